// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The files of `lanewise run` that hold the parameters of a score function.

#ifndef LANEWISE_TOOLS_SCORE_ARRAYS_H_
#define LANEWISE_TOOLS_SCORE_ARRAYS_H_

#include <optional>
#include <string>

#include "lanewise/attention.h"
#include "lanewise/status.h"
#include "tools/npy.h"

namespace lanewise::tools {

struct ScorePaths {
  std::optional<std::string> w, wq, wk, w_out;
};

// Whether the score of `options` goes with the files, and with the other options, that are given.
// Messages name the flag.
Status CheckScoreFlags(const AttentionOptions& options, const ScorePaths& paths);

struct ScoreArrays {
  std::optional<npy::Array> w, wq, wk, w_out;

  // Sets the options that ask for the arrays that are present.
  void ApplyTo(AttentionOptions& options) const noexcept;
  void AddTo(AttentionTensors& tensors) const;
};

// Reads the files, all f32, and checks that they fit `shape`, whose dim and key_dim are those of q
// and k:
//
//   w      [dim, key_dim]
//   wq     [hidden, dim]
//   wk     [hidden, key_dim]
//   w_out  [hidden], which sets shape.hidden
//
// Messages name the flag and the file.
Result<ScoreArrays> ReadScoreArrays(const ScorePaths& paths, AttentionShape& shape);

}  // namespace lanewise::tools

#endif  // LANEWISE_TOOLS_SCORE_ARRAYS_H_
