// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Caches of keys and values, and attention over them, as a C99 program uses them.

#include <lanewise/c_api/kv_cache.h>

#include "tests/c_api/check.h"
#include "tests/c_api/even_attention.h"

enum { kSlots = 4 };
static float keys[kSlots];
static float values[kSlots];
static int64_t length;
static int64_t oldest;

// One item, one head, one column.
static lanewise_kv_cache EmptyCache(void) {
  lanewise_kv_cache cache;
  CHECK(lanewise_kv_cache_init(&cache) == LANEWISE_OK);
  CHECK(cache.oldest == NULL && cache.window_left == LANEWISE_UNLIMITED);
  for (int i = 0; i < kSlots; ++i) keys[i] = values[i] = kUntouched;
  length = oldest = 0;
  cache.k = Dense(keys, LANEWISE_F32, 1, 1, kSlots, 1);
  cache.v = Dense(values, LANEWISE_F32, 1, 1, kSlots, 1);
  cache.length = &length;
  cache.batch = 1;
  return cache;
}

// Tokens of value first, first + 1, ...
static lanewise_status Append(const lanewise_kv_cache* cache, int first, int count,
                              lanewise_error* error) {
  const float zeros[8] = {0};
  float numbers[8];
  for (int i = 0; i < count; ++i) numbers[i] = (float)(first + i);
  const lanewise_tensor k = Dense(zeros, LANEWISE_F32, 1, 1, count, 1);
  const lanewise_tensor v = Dense(numbers, LANEWISE_F32, 1, 1, count, 1);
  return lanewise_append_kv(cache, &k, &v, NULL, error);
}

// The mean of the values that the cache holds.
static float Attend(const lanewise_kv_cache* cache) {
  const float q = 0;
  int64_t kv_len = -1;
  int64_t kv_first = -1;
  lanewise_attention_options options;
  lanewise_attention_tensors tensors = EvenTensors();
  lanewise_error error;
  CHECK(lanewise_kv_cache_kv_len(cache, 0, &kv_len, &error) == LANEWISE_OK);
  CHECK(lanewise_kv_cache_kv_first(cache, 0, &kv_first, &error) == LANEWISE_OK);
  CHECK(error.message[0] == '\0');
  CHECK(lanewise_attention_options_init(&options) == LANEWISE_OK);
  options.kv_len = true;
  options.kv_first = cache->oldest != NULL;
  options.paged = cache->page_table.ids != NULL;
  tensors.q = Dense(&q, LANEWISE_F32, 1, 1, 1, 1);
  tensors.k = cache->k;
  tensors.v = cache->v;
  tensors.out = Dense(out, LANEWISE_F32, 1, 1, 1, 1);
  tensors.kv_len = (lanewise_int64_array){&kv_len, 1};
  if (options.kv_first) tensors.kv_first = (lanewise_int64_array){&kv_first, 1};
  tensors.page_table = cache->page_table;
  const lanewise_status status = lanewise_attention(&tensors, &options, NULL, &error);
  if (status != LANEWISE_OK) printf("%s\n", error.message);
  CHECK(status == LANEWISE_OK);
  return out[0];
}

static void Block(void) {
  const lanewise_kv_cache cache = EmptyCache();
  lanewise_error error;
  CHECK(Append(&cache, 10, 3, &error) == LANEWISE_OK && error.message[0] == '\0');
  CHECK(length == 3 && values[2] == 12 && values[3] == kUntouched && keys[3] == kUntouched);
  CHECK(Near(Attend(&cache), 11));
  CHECK(lanewise_rewind_kv(&cache, 0, 1, &error) == LANEWISE_OK && length == 1);
  CHECK(Append(&cache, 20, 1, NULL) == LANEWISE_OK && length == 2 && values[1] == 20);
  CHECK(Near(Attend(&cache), 15));
}

static void Ring(void) {
  lanewise_kv_cache cache = EmptyCache();
  lanewise_error error;
  cache.oldest = &oldest;
  CHECK(Append(&cache, 0, 3, &error) == LANEWISE_OK && oldest == 0);
  CHECK(Append(&cache, 3, 3, &error) == LANEWISE_OK && oldest == 2 && length == 6);
  CHECK(values[0] == 4 && values[1] == 5 && values[2] == 2 && values[3] == 3);
  CHECK(lanewise_rewind_kv(&cache, 0, 4, &error) == LANEWISE_INVALID_ARGUMENT && length == 6);
  CHECK(strncmp(error.message, "length", 6) == 0);
  CHECK(lanewise_rewind_kv(&cache, 0, 5, &error) == LANEWISE_OK && length == 5);
  CHECK(Near(Attend(&cache), 3));  // 2, 3, 4
  cache.window_left = 1;
  CHECK(lanewise_rewind_kv(&cache, 0, 3, &error) == LANEWISE_OK && length == 3);
  CHECK(Near(Attend(&cache), 2));
}

static void Pages(void) {
  lanewise_kv_cache cache = EmptyCache();
  lanewise_error error;
  const int32_t ids[2] = {1, 0};
  cache.k = Dense(keys, LANEWISE_F32, 2, 1, 2, 1);
  cache.v = Dense(values, LANEWISE_F32, 2, 1, 2, 1);
  cache.page_table = (lanewise_page_table){ids, 1, 2};
  CHECK(Append(&cache, 5, 3, &error) == LANEWISE_OK && length == 3);
  CHECK(values[2] == 5 && values[3] == 6 && values[0] == 7 && values[1] == kUntouched);
  CHECK(Near(Attend(&cache), 6));
  cache.page_table.pages_per_item = 1;
  CHECK(Append(&cache, 8, 1, &error) == LANEWISE_INVALID_ARGUMENT && length == 3);
}

static void TokensOfEachItem(void) {
  lanewise_kv_cache cache = EmptyCache();
  const float rows[4] = {1, 2, 3, 4};
  const int64_t counts[2] = {1, 2};
  int64_t lengths[2] = {0, 0};
  cache.k = Dense(keys, LANEWISE_F32, 2, 1, 2, 1);
  cache.v = Dense(values, LANEWISE_F32, 2, 1, 2, 1);
  cache.length = lengths;
  cache.batch = 2;
  const lanewise_tensor appended = Dense(rows, LANEWISE_F32, 2, 1, 2, 1);
  const lanewise_int64_array tokens = {counts, 2};
  CHECK(lanewise_append_kv(&cache, &appended, &appended, &tokens, NULL) == LANEWISE_OK);
  CHECK(lengths[0] == 1 && lengths[1] == 2);
  CHECK(keys[0] == 2 && keys[1] == kUntouched && keys[2] == 3 && keys[3] == 4);
}

// The numbers that a step of attention needs.
static void Numbers(void) {
  lanewise_kv_cache cache = EmptyCache();
  int64_t number = -1;
  int64_t lengths[2] = {3, 9};
  int64_t oldests[2] = {0, 6};
  lanewise_error e;
  cache.length = lengths;
  cache.batch = 2;
  CHECK(lanewise_kv_cache_slots(&cache, &number, &e) == LANEWISE_OK && number == kSlots);
  CHECK(lanewise_kv_cache_kv_len(&cache, 0, &number, &e) == LANEWISE_OK && number == 3);
  CHECK(lanewise_kv_cache_kv_first(&cache, 0, &number, &e) == LANEWISE_OK && number == 0);
  cache.oldest = oldests;
  CHECK(lanewise_kv_cache_kv_len(&cache, 1, &number, &e) == LANEWISE_OK && number == 3);
  CHECK(lanewise_kv_cache_kv_first(&cache, 1, &number, &e) == LANEWISE_OK && number == 2);
  cache.page_table.pages_per_item = 5;
  CHECK(lanewise_kv_cache_slots(&cache, &number, &e) == LANEWISE_OK && number == 5 * kSlots);
  CHECK(lanewise_kv_cache_kv_first(&cache, 1, &number, &e) == LANEWISE_OK && number == 6);
  CHECK(e.message[0] == '\0');

  number = -1;
  ExpectNull(lanewise_kv_cache_slots(NULL, &number, &e), &e, "cache");
  ExpectNull(lanewise_kv_cache_slots(&cache, NULL, &e), &e, "slots");
  ExpectNull(lanewise_kv_cache_kv_len(NULL, 0, &number, &e), &e, "cache");
  ExpectNull(lanewise_kv_cache_kv_len(&cache, 0, NULL, &e), &e, "kv_len");
  ExpectNull(lanewise_kv_cache_kv_first(NULL, 0, &number, &e), &e, "cache");
  ExpectNull(lanewise_kv_cache_kv_first(&cache, 0, NULL, &e), &e, "kv_first");
  ExpectError(lanewise_kv_cache_kv_len(&cache, 2, &number, &e), &e, "batch_item", "2");
  ExpectError(lanewise_kv_cache_kv_first(&cache, -1, &number, &e), &e, "batch_item", "-1");
  cache.page_table.pages_per_item = INT64_MAX;
  ExpectError(lanewise_kv_cache_slots(&cache, &number, &e), &e, "cache.page_table", "4");
  ExpectError(lanewise_kv_cache_kv_first(&cache, 0, &number, &e), &e, "cache.page_table", "4");
  cache.page_table.pages_per_item = 0;
  cache.k.sizes[2] = 0;
  ExpectError(lanewise_kv_cache_kv_first(&cache, 0, &number, &e), &e, "cache.k", "0 slots");
  cache.length = NULL;
  ExpectError(lanewise_kv_cache_kv_len(&cache, 0, &number, &e), &e, "cache.length", "null");
  CHECK(number == -1);
}

static void Errors(void) {
  const lanewise_kv_cache cache = EmptyCache();
  const lanewise_tensor row = Dense(kQueries, LANEWISE_F32, 1, 1, 1, 1);
  lanewise_error error;
  // Public report C064.
  CHECK(Append(&cache, 1, 4, &error) == LANEWISE_OK);
  CHECK(Append(&cache, 9, 1, &error) == LANEWISE_INVALID_ARGUMENT);
  CHECK(strncmp(error.message, "k:", 2) == 0 && strstr(error.message, "4") != NULL);
  CHECK(strstr(error.message, "5") != NULL && length == 4 && values[0] == 1);

  CHECK(lanewise_append_kv(NULL, &row, &row, NULL, &error) == LANEWISE_INVALID_ARGUMENT);
  CHECK(strncmp(error.message, "cache", 5) == 0);
  CHECK(lanewise_append_kv(&cache, NULL, &row, NULL, &error) == LANEWISE_INVALID_ARGUMENT);
  CHECK(strncmp(error.message, "k", 1) == 0);
  CHECK(lanewise_append_kv(&cache, &row, NULL, NULL, &error) == LANEWISE_INVALID_ARGUMENT);
  CHECK(strncmp(error.message, "v", 1) == 0);
  CHECK(lanewise_rewind_kv(NULL, 0, 0, &error) == LANEWISE_INVALID_ARGUMENT);
  CHECK(strncmp(error.message, "cache", 5) == 0);
  CHECK(lanewise_rewind_kv(&cache, 1, 0, &error) == LANEWISE_INVALID_ARGUMENT);
  CHECK(strncmp(error.message, "batch_item", 10) == 0);
  CHECK(lanewise_kv_cache_init(NULL) == LANEWISE_INVALID_ARGUMENT);
}

int main(void) {
  const Test tests[] = {
      {"Block", Block},     {"Ring", Ring},
      {"Pages", Pages},     {"TokensOfEachItem", TokensOfEachItem},
      {"Numbers", Numbers}, {"Errors", Errors},
  };
  return RunTests(tests, sizeof(tests) / sizeof(tests[0]));
}
