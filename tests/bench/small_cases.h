// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Cases small enough to run in no time, and how to.

#ifndef LANEWISE_TESTS_BENCH_SMALL_CASES_H_
#define LANEWISE_TESTS_BENCH_SMALL_CASES_H_

#include <cstdint>

#include "lanewise/attention.h"
#include "lanewise/runtime.h"
#include "tune/measure.h"

namespace lanewise::bench {

inline AttentionShape SmallShape(int64_t queries) {
  AttentionShape shape;
  shape.heads = 4;
  shape.kv_heads = 2;
  shape.queries = queries;
  shape.keys = 50;
  shape.dim = 16;
  shape.value_dim = 24;
  return shape;
}

inline tune::MeasureOptions ShortMeasure() {
  tune::MeasureOptions measure;
  measure.seconds = 0;
  measure.sample_seconds = 0;
  measure.min_rounds = 2;
  return measure;
}

inline Runtime Threads(int threads) {
  Runtime runtime = DefaultRuntime();
  runtime.threads = threads;
  return runtime;
}

// All options that need an array.
inline AttentionOptions AllArrays() {
  AttentionOptions options;
  options.mask = options.bias = options.alibi_slopes = options.sinks = options.kv_len = true;
  options.lse = options.weights = true;
  return options;
}

}  // namespace lanewise::bench

#endif  // LANEWISE_TESTS_BENCH_SMALL_CASES_H_
