// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// lanewise_attention as a C99 program uses it: each field that is copied across, and what happens
// when one is wrong. What attention computes is tested from C++.

#include <lanewise/c_api/attention.h>

#include "tests/c_api/check.h"
#include "tests/c_api/even_attention.h"

static lanewise_attention_options Defaults(void) {
  lanewise_attention_options options;
  CHECK(lanewise_attention_options_init(&options) == LANEWISE_OK);
  return options;
}

// Runs and compares the three results.
static void ExpectOut(const lanewise_attention_tensors* tensors,
                      const lanewise_attention_options* options, float out0, float out1,
                      float out2) {
  lanewise_error error;
  const lanewise_status status = lanewise_attention(tensors, options, NULL, &error);
  if (status != LANEWISE_OK) printf("%s\n", error.message);
  CHECK(status == LANEWISE_OK);
  CHECK(error.message[0] == '\0');
  if (!Near(out[0], out0) || !Near(out[1], out1) || !Near(out[2], out2)) {
    printf("found %g %g %g, expected %g %g %g\n", (double)out[0], (double)out[1], (double)out[2],
           (double)out0, (double)out1, (double)out2);
    Check(false, "values", __LINE__);
  }
}

static void Golden(void) {
  const float q[2] = {1, 0};
  const float v[3] = {10, 20, 40};
  lanewise_attention_tensors tensors = EvenTensors();
  tensors.q = Dense(q, LANEWISE_F32, 1, 1, 1, 2);
  tensors.v = Dense(v, LANEWISE_F32, 1, 1, 3, 1);
  tensors.out = Dense(out, LANEWISE_F32, 1, 1, 1, 1);
  ExpectOut(&tensors, NULL, 24.01112093f, kUntouched, kUntouched);

  lanewise_attention_options options = Defaults();
  options.scale = 0;
  ExpectOut(&tensors, &options, 24.01112093f, kUntouched, kUntouched);
  options.has_scale = true;
  ExpectOut(&tensors, &options, 70.0f / 3, kUntouched, kUntouched);
}

static void GoldenScores(void) {
  const float q[2] = {1, 0};
  const float v[3] = {10, 20, 40};
  const float keys[6] = {1, 0, 0, 1, 1, 1};
  const float unit[4] = {1, 0, 0, 1};
  const float w[4] = {2, 1, 0, 1};
  const float w_out[2] = {1, -1};
  lanewise_attention_tensors plain = EvenTensors();
  plain.q = Dense(q, LANEWISE_F32, 1, 1, 1, 2);
  plain.k = Dense(keys, LANEWISE_F32, 1, 1, 3, 2);
  plain.v = Dense(v, LANEWISE_F32, 1, 1, 3, 1);
  plain.out = Dense(out, LANEWISE_F32, 1, 1, 1, 1);

  lanewise_attention_tensors tensors = plain;
  lanewise_attention_options options = Defaults();
  options.score = LANEWISE_SCORE_ADDITIVE;
  options.wq = options.wk = true;
  tensors.wq = tensors.wk = Dense(unit, LANEWISE_F32, 1, 1, 2, 2);
  tensors.w_out = (lanewise_float_array){w_out, 2};
  ExpectOut(&tensors, &options, 19.64206077f, kUntouched, kUntouched);

  tensors = plain;
  options = Defaults();
  options.score = LANEWISE_SCORE_BILINEAR;
  tensors.w = Dense(w, LANEWISE_F32, 1, 1, 2, 2);
  ExpectOut(&tensors, &options, 30.85753440f, kUntouched, kUntouched);

  options = Defaults();
  options.score = LANEWISE_SCORE_GAUSSIAN;
  options.has_bandwidth = true;
  options.bandwidth = 1;
  ExpectOut(&plain, &options, 21.07911380f, kUntouched, kUntouched);

  // Sizes of a plan's shape.
  lanewise_attention_shape shape;
  CHECK(lanewise_attention_shape_init(&shape) == LANEWISE_OK);
  shape.queries = shape.keys = 3;
  shape.dim = shape.value_dim = 2;
  shape.key_dim = 4;
  lanewise_plan* plan = NULL;
  CHECK(lanewise_plan_create(&shape, NULL, NULL, &plan, NULL) == LANEWISE_INVALID_ARGUMENT);
  options = Defaults();
  options.score = LANEWISE_SCORE_BILINEAR;
  CHECK(lanewise_plan_create(&shape, &options, NULL, &plan, NULL) == LANEWISE_OK);
  CHECK(lanewise_plan_destroy(plan) == LANEWISE_OK);
  shape.hidden = 2;
  CHECK(lanewise_plan_create(&shape, &options, NULL, &plan, NULL) == LANEWISE_INVALID_ARGUMENT);
}

static void WhoSeesWhat(void) {
  const lanewise_attention_tensors tensors = EvenTensors();
  lanewise_attention_options options = Defaults();
  ExpectOut(&tensors, &options, 30, 30, 30);
  options.causal = true;
  ExpectOut(&tensors, &options, 10, 15, 30);
  options.has_query_offset = true;
  options.query_offset = -1;
  ExpectOut(&tensors, &options, 0, 10, 15);

  options = Defaults();
  options.window_left = 0;
  ExpectOut(&tensors, &options, 30, 40, 60);
  options.window_right = 0;
  ExpectOut(&tensors, &options, 10, 20, 60);

  // Two queries: aligned with the last keys, or with the first.
  lanewise_attention_tensors two = EvenTensors();
  two.q.sizes[2] = two.out.sizes[2] = 2;
  options = Defaults();
  options.causal = true;
  ExpectOut(&two, &options, 15, 30, kUntouched);
  options.top_left = true;
  ExpectOut(&two, &options, 10, 15, kUntouched);
}

// Public report C087.
static void MaskTrueMeansMayAttend(void) {
  const float values[2] = {1, 2};
  const unsigned char mask[2] = {1, 0};
  lanewise_attention_tensors tensors = EvenTensors();
  tensors.k.sizes[2] = 2;
  tensors.v = Dense(values, LANEWISE_F32, 1, 1, 2, 1);
  tensors.mask = Dense(mask, LANEWISE_BOOL, 1, 1, 1, 2);
  lanewise_attention_options options = Defaults();
  options.mask = true;
  ExpectOut(&tensors, &options, 1, 1, 1);
}

static void OptionalArrays(void) {
  const float kLn2 = 0.693147181f;
  float lse[3];
  float weights[9];
  lanewise_attention_tensors tensors = EvenTensors();
  lanewise_attention_options options = Defaults();
  options.lse = options.weights = true;
  tensors.lse = Dense(lse, LANEWISE_F32, 1, 1, 3, 1);
  tensors.weights = Dense(weights, LANEWISE_F32, 1, 1, 3, 3);
  ExpectOut(&tensors, &options, 30, 30, 30);
  CHECK(Near(lse[0], 1.09861229f) && Near(lse[2], 1.09861229f));
  CHECK(Near(weights[0], 1.0f / 3) && Near(weights[8], 1.0f / 3));

  tensors = EvenTensors();
  const float sink = kLn2;
  options = Defaults();
  options.sinks = true;
  tensors.sinks = (lanewise_float_array){&sink, 1};
  ExpectOut(&tensors, &options, 18, 18, 18);  // 90 / (3 + 2)

  tensors = EvenTensors();
  const float bias[3] = {0, 0, kLn2};
  options = Defaults();
  options.bias = true;
  tensors.bias = Dense(bias, LANEWISE_F32, 1, 1, 1, 3);
  ExpectOut(&tensors, &options, 37.5f, 37.5f, 37.5f);  // (10 + 20 + 2 * 60) / 4
  // Caps the scores, 0 here, before the bias is added.
  options.has_softcap = true;
  options.softcap = 1;
  ExpectOut(&tensors, &options, 37.5f, 37.5f, 37.5f);
  options.softcap = -1;
  CHECK(lanewise_attention(&tensors, &options, NULL, NULL) == LANEWISE_INVALID_ARGUMENT);
  options.has_softcap = false;
  ExpectOut(&tensors, &options, 37.5f, 37.5f, 37.5f);

  tensors = EvenTensors();
  const float slope = kLn2;  // halves the weight with each key of distance
  options = Defaults();
  options.alibi_slopes = true;
  tensors.alibi_slopes = (lanewise_float_array){&slope, 1};
  ExpectOut(&tensors, &options, 35 / 1.75f, 27.5f, 72.5f / 1.75f);

  tensors = EvenTensors();
  const int64_t kv_len = 2;
  options = Defaults();
  options.kv_len = true;
  tensors.kv_len = (lanewise_int64_array){&kv_len, 1};
  ExpectOut(&tensors, &options, 15, 15, 15);

  tensors = EvenTensors();
  const int64_t q_offsets[3] = {0, 1, 3};
  const int64_t k_offsets[3] = {0, 2, 3};
  options = Defaults();
  options.ragged = true;
  tensors.q_offsets = (lanewise_int64_array){q_offsets, 3};
  tensors.k_offsets = (lanewise_int64_array){k_offsets, 3};
  ExpectOut(&tensors, &options, 15, 60, 60);
}

static void ExpectRefused(const lanewise_attention_tensors* tensors,
                          const lanewise_attention_options* options, lanewise_status expected,
                          const char* name, const char* numbers) {
  lanewise_error error;
  memset(&error, 'x', sizeof(error));
  const lanewise_status status = lanewise_attention(tensors, options, NULL, &error);
  CHECK(status == expected);
  const bool named = strncmp(error.message, name, strlen(name)) == 0;
  if (!named || strstr(error.message, numbers) == NULL) {
    printf("found \"%s\", expected \"%s\" and \"%s\"\n", error.message, name, numbers);
    Check(false, "message", __LINE__);
  }
  CHECK(out[0] == kUntouched && out[1] == kUntouched && out[2] == kUntouched);
  CHECK(lanewise_attention(tensors, options, NULL, NULL) == expected);
}

// Public report C094: one error each, with code, argument and numbers; nothing written; usable
// afterwards.
static void Errors(void) {
  lanewise_attention_tensors tensors = EvenTensors();
  tensors.v.sizes[2] = 2;
  ExpectRefused(&tensors, NULL, LANEWISE_INVALID_ARGUMENT, "v", "2");
  tensors = EvenTensors();
  tensors.k.sizes[3] = 1;
  ExpectRefused(&tensors, NULL, LANEWISE_INVALID_ARGUMENT, "k", "1");
  tensors = EvenTensors();
  tensors.q.data = NULL;
  ExpectRefused(&tensors, NULL, LANEWISE_INVALID_ARGUMENT, "q", "null");
  tensors = EvenTensors();
  tensors.out.strides[2] = 0;
  ExpectRefused(&tensors, NULL, LANEWISE_INVALID_ARGUMENT, "out", "0");
  tensors = EvenTensors();
  tensors.q.type = LANEWISE_BOOL;
  ExpectRefused(&tensors, NULL, LANEWISE_INVALID_ARGUMENT, "q", "bool");
  tensors = EvenTensors();
  tensors.q.type = 77;
  ExpectRefused(&tensors, NULL, LANEWISE_INVALID_ARGUMENT, "q", "unknown");

  lanewise_attention_options options = Defaults();
  options.kv_len = true;
  int64_t lengths[2] = {4, 0};
  tensors = EvenTensors();
  tensors.kv_len = (lanewise_int64_array){lengths, 1};
  ExpectRefused(&tensors, &options, LANEWISE_INVALID_ARGUMENT, "kv_len", "4");
  lengths[0] = -1;
  ExpectRefused(&tensors, &options, LANEWISE_INVALID_ARGUMENT, "kv_len", "-1");
  tensors.kv_len.size = 2;
  ExpectRefused(&tensors, &options, LANEWISE_INVALID_ARGUMENT, "kv_len", "2");
  tensors.kv_len.size = 1;
  tensors.kv_len.data = NULL;
  ExpectRefused(&tensors, &options, LANEWISE_INVALID_ARGUMENT, "kv_len", "null");

  tensors = EvenTensors();
  ExpectOut(&tensors, NULL, 30, 30, 30);
}

static void ZeroSizes(void) {
  lanewise_attention_tensors tensors = EvenTensors();
  tensors.k.sizes[2] = tensors.v.sizes[2] = 0;
  tensors.k.data = tensors.v.data = NULL;
  ExpectOut(&tensors, NULL, 0, 0, 0);
  tensors = EvenTensors();
  tensors.q.sizes[2] = tensors.out.sizes[2] = 0;
  ExpectOut(&tensors, NULL, kUntouched, kUntouched, kUntouched);
}

int main(void) {
  const Test tests[] = {
      {"Golden", Golden},
      {"GoldenScores", GoldenScores},
      {"WhoSeesWhat", WhoSeesWhat},
      {"MaskTrueMeansMayAttend", MaskTrueMeansMayAttend},
      {"OptionalArrays", OptionalArrays},
      {"Errors", Errors},
      {"ZeroSizes", ZeroSizes},
  };
  return RunTests(tests, sizeof(tests) / sizeof(tests[0]));
}
