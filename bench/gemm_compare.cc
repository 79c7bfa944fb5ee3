// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The matrix products of the table beside those of other libraries, in the same interleaved rounds:
// gemm_compare [THREADS [SECONDS]], with OPENBLAS_CORETYPE unset. Built with the libraries that
// were found at configure time.

#include <fmt/format.h>
#include <omp.h>

#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/gemm_cases.h"
#include "src/machine/targets.h"
#include "tune/measure.h"
#include "tune/thread_team.h"
#include "tune/yardsticks.h"

#ifdef LANEWISE_HAVE_DNNL
#include <dnnl.h>
#endif
#ifdef LANEWISE_HAVE_OPENBLAS
#include <cblas.h>
#endif

namespace lanewise::bench {
namespace {

struct Competitor {
  std::string name;
  tune::Timer timer;
};

// Dense row-major operands of a case.
struct Operands {
  const float* a;
  const float* b;
  float* c;
  int64_t rows;
  int64_t columns;
  int64_t depth;
  bool transpose_b;
};

Operands OperandsOf(const GemmCase& benchmark, const GemmTensors& tensors) {
  const GemmShape& shape = benchmark.shape;
  return {static_cast<const float*>(tensors.a.data),
          static_cast<const float*>(tensors.b.data),
          static_cast<float*>(tensors.c.data),
          shape.rows,
          shape.columns,
          shape.depth,
          benchmark.options.transpose_b};
}

void AddOthers(const Operands& p, int threads, std::vector<Competitor>& competitors) {
  const int64_t b_stride = p.transpose_b ? p.depth : p.columns;
#ifdef LANEWISE_HAVE_DNNL
  omp_set_num_threads(threads);
  competitors.push_back({"oneDNN", tune::Timed([p, b_stride] {
                           dnnl_sgemm('N', p.transpose_b ? 'T' : 'N', p.rows, p.columns, p.depth, 1,
                                      p.a, p.depth, p.b, b_stride, 0, p.c, p.columns);
                         })});
#endif
#ifdef LANEWISE_HAVE_OPENBLAS
  openblas_set_num_threads(threads);
  const auto size = [](int64_t n) { return static_cast<blasint>(n); };
  competitors.push_back({"OpenBLAS", tune::Timed([p, b_stride, size] {
                           cblas_sgemm(CblasRowMajor, CblasNoTrans,
                                       p.transpose_b ? CblasTrans : CblasNoTrans, size(p.rows),
                                       size(p.columns), size(p.depth), 1, p.a, size(p.depth), p.b,
                                       size(b_stride), 0, p.c, size(p.columns));
                         })});
#endif
}

// One line: the share of the FMA peak of each library.
Status Compare(const GemmCase& benchmark, const Runtime& runtime,
               const tune::MeasureOptions& measure) {
  GemmCase packed = benchmark;
  packed.options.packed_b = true;
  const auto plain_case = PreparedGemm::Make(benchmark, runtime, {});
  if (!plain_case.ok()) return plain_case.status();
  const auto packed_case = PreparedGemm::Make(packed, runtime, {});
  if (!packed_case.ok()) return packed_case.status();
  PreparedGemm& plain = static_cast<PreparedGemm&>(**plain_case);

  std::vector<Competitor> competitors = {
      {"lanewise", tune::Timed([&] { (void)plain.Run(); })},
      {"lanewise, packed B", tune::Timed([&] { (void)(*packed_case)->Run(); })}};
  AddOthers(OperandsOf(benchmark, plain.tensors()), runtime.threads, competitors);
  const Result<int64_t> target = machine::FindTarget(plain.Explain().target);
  if (!target.ok()) return target.status();
  tune::ThreadTeam team(runtime.threads);
  const tune::Yardstick peak = tune::FmaPeak(*target, team);
  std::vector<tune::Timer> timers = {peak.timer};
  for (const Competitor& competitor : competitors) timers.push_back(competitor.timer);
  const std::vector<tune::Measurement> measured = tune::MeasureInterleaved(timers, measure);

  const double peak_flops = peak.work / measured[0].best;
  fmt::print("{:<20}", benchmark.name);
  for (size_t i = 0; i < competitors.size(); ++i) {
    const tune::Measurement& m = measured[i + 1];
    fmt::print("  {} {:.3f} ({:.3f})", competitors[i].name, plain.flops() / m.best / peak_flops,
               plain.flops() / m.median / peak_flops);
  }
  fmt::print("\n");
  return {};
}

int Main(int argc, char** argv) {
  Runtime runtime = DefaultRuntime();
  runtime.threads = 1;
  tune::MeasureOptions measure;
  int seconds = 4;
  int* const numbers[] = {&runtime.threads, &seconds};
  for (int i = 1; i < argc && i <= 2; ++i) {
    const std::string_view text = argv[i];
    std::from_chars(text.data(), text.data() + text.size(), *numbers[i - 1]);
  }
  if (runtime.threads < 1 || seconds < 1) {
    fmt::print(stderr, "usage: gemm_compare [THREADS [SECONDS]]\n");
    return 2;
  }
  measure.seconds = seconds;
  fmt::print("share of the FMA peak, best (median) of interleaved rounds, {} thread(s)\n",
             runtime.threads);
  for (const GemmCase& benchmark : GemmCases()) {
    if (benchmark.options.packed_b) continue;
    if (const Status s = Compare(benchmark, runtime, measure); !s.ok()) {
      fmt::print(stderr, "{}: {}\n", benchmark.name, s.message());
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace lanewise::bench

int main(int argc, char** argv) { return lanewise::bench::Main(argc, argv); }
