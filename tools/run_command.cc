// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Files -> plan -> run -> check -> files.

#include "tools/run_command.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lanewise/attention.h"
#include "tools/command.h"
#include "tools/flags.h"
#include "tools/input_arrays.h"
#include "tools/outputs.h"
#include "tools/run_report.h"
#include "tools/shape_flags.h"

namespace lanewise::tools {
namespace {

struct RunFlags {
  InputPaths inputs;
  OutputPaths outputs;
  InputTypes types;
  OptionFlags options;
  RuntimeFlags runtime;
  bool check = false;
  bool json = false;
};

// `arrays` as a plan has it: the batch of a ragged one counts sequences.
Result<AttentionShape> ShapeToPlan(const OptionFlags& options, AttentionShape arrays) {
  if (options.q_offsets().empty()) return arrays;
  if (arrays.batch != 1) {
    return Status::InvalidArgument(
        fmt::format("--q: found batch {}, expected 1 with --q-offsets", arrays.batch));
  }
  arrays.batch = static_cast<int64_t>(options.q_offsets().size()) - 1;
  if (Status s = options.CheckOffsets(arrays); !s.ok()) return s;
  return arrays;
}

int Run(const CLI::App& command, const RunFlags& flags) {
  if (Status s = CheckDistinct(flags.outputs); !s.ok()) return FailUsage(s.message());
  if (Status s = CheckScoreFlags(flags.options.options(), flags.inputs.score); !s.ok()) {
    return FailUsage(s.message());
  }
  if (Status s = flags.options.CheckOffsetCounts(); !s.ok()) return FailUsage(s.message());
  const Result<InputArrays> inputs = ReadInputs(flags.inputs, flags.types);
  if (!inputs.ok()) return Fail(inputs.status());
  if (Status s = flags.options.CheckKvLen(inputs->shape); !s.ok()) return Fail(s);
  AttentionOptions options = flags.options.options();
  const Result<AttentionShape> shape = ShapeToPlan(flags.options, inputs->shape);
  if (!shape.ok()) return Fail(shape.status());
  inputs->ApplyTo(options);
  options.lse = flags.outputs.lse.has_value();
  options.weights = flags.outputs.weights.has_value();
  const Result<AttentionPlan> plan = PlanAttention(*shape, options, flags.runtime.runtime());
  if (!plan.ok()) return Fail(NamingFlag(command, plan.status().message()));

  Result<Outputs> outputs = Outputs::Create(flags.outputs, *inputs);
  if (!outputs.ok()) return Fail(outputs.status());
  AttentionTensors tensors = inputs->Tensors();
  const std::vector<int64_t>& kv_len = flags.options.kv_len();
  tensors.kv_len = {kv_len.data(), static_cast<int64_t>(kv_len.size())};
  const std::vector<int64_t>& q_offsets = flags.options.q_offsets();
  const std::vector<int64_t>& k_offsets = flags.options.k_offsets();
  tensors.q_offsets = {q_offsets.data(), static_cast<int64_t>(q_offsets.size())};
  tensors.k_offsets = {k_offsets.data(), static_cast<int64_t>(k_offsets.size())};
  outputs->AddTo(inputs->shape, tensors);
  Workspace workspace(plan->workspace_bytes());

  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  if (Status s = plan->Run(tensors, workspace); !s.ok()) {
    return Fail(NamingFlag(command, s.message()));
  }
  const std::chrono::duration<double, std::milli> time = Clock::now() - begin;

  RunReport report = {*inputs, flags.outputs, plan->Explain(), time.count(), std::nullopt, false};
  if (flags.check) report.check = CheckResults(tensors, options);
  const bool passes = !report.check || AllPass(*report.check);
  if (passes) {
    if (Status s = outputs->Write(); !s.ok()) return Fail(s);
    report.written = true;
  }
  if (flags.json) {
    PrintReportJson(report);
  } else {
    PrintReportText(report);
  }
  if (!passes) return Fail(FailureLine(report));
  // No file is there for somebody who was not told of it.
  if (Status s = FlushStdout(); !s.ok()) return Fail(s);
  if (Status s = outputs->Commit(); !s.ok()) return Fail(s);
  return kExitOk;
}

}  // namespace

void AddRunCommand(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "run",
      "Attention on NumPy files: f32 or f16, rank 2 [n, d], 3 [heads, n, d] or 4 [batch, ...]");
  const auto flags = std::make_shared<RunFlags>();
  const auto add_path = [command](const char* flag, auto& path, const char* description) {
    return AddPath(*command, flag, path, description);
  };
  add_path("--q", flags->inputs.q, "Queries [batch, heads, queries, dim]")->required();
  add_path("--k", flags->inputs.k, "Keys [batch, kv_heads, keys, dim]")->required();
  add_path("--v", flags->inputs.v, "Values [batch, kv_heads, keys, value_dim]")->required();
  add_path("--out", flags->outputs.out, "Output to write, in the rank of the inputs")->required();
  add_path("--lse", flags->outputs.lse, "Log-sum-exp to write, without the last axis");
  add_path("--weights", flags->outputs.weights, "Weights to write [batch, heads, queries, keys]");
  AddType(*command, "--type", flags->types.q,
          "Round q to f32, f16 or bf16, which the output has too; a bf16 output is written as f32 "
          "(default: as the file)");
  AddType(*command, "--kv-type", flags->types.kv,
          "Round k and v to f32, f16 or bf16 (default: as the files)");
  flags->options.AddTo(*command);
  add_path("--mask", flags->inputs.mask,
           "Pairs that may attend: bool [queries, keys] or [batch, heads, queries, keys]");
  add_path("--bias", flags->inputs.bias, "Added to the scores: f32, shapes as of --mask");
  add_path("--alibi", flags->inputs.alibi, "Slopes of a penalty on distance: f32 [heads]");
  add_path("--sinks", flags->inputs.sinks, "Logits in the denominators: f32 [heads]");
  ExcludeFromRagged(*command);
  ScorePaths& score = flags->inputs.score;
  add_path("--w", score.w, "W of bilinear scores: f32 [dim, key_dim]");
  add_path("--wq", score.wq,
           "W_q of additive scores: f32 [hidden, dim] (default: q is projected already)");
  add_path("--wk", score.wk,
           "W_k of additive scores: f32 [hidden, key_dim] (default: k is projected already)");
  add_path("--w-out", score.w_out, "w of additive scores: f32 [hidden]");
  flags->runtime.AddTo(*command);
  command->add_flag("--check", flags->check,
                    "Compare with the definition; fail beyond the tolerance of f32 arithmetic and "
                    "of the rounded output");
  AddJson(*command, flags->json);
  command->callback([command, flags, &exit_code] { exit_code = Run(*command, *flags); });
}

}  // namespace lanewise::tools
