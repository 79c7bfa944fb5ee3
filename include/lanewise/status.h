// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Errors as values. The library never prints or aborts, and a function that can fail returns
// `Status`, or `Result<T>` when it also produces a value. Only functions that return text (Explain,
// ToString, AvailableTargets, copies of a status) throw: std::bad_alloc, if there is no memory.

#ifndef LANEWISE_STATUS_H_
#define LANEWISE_STATUS_H_

#include <string>       // message
#include <string_view>  // StatusCodeName
#include <utility>      // std::move
#include <variant>      // Result

#include "lanewise/export.h"

namespace lanewise {

enum class StatusCode {
  kOk = 0,
  // An argument is wrong by itself or does not fit another one. The message names it.
  kInvalidArgument = 1,
  // The request is well-formed, but this build or this machine cannot do it.
  kUnsupported = 2,
  // Memory could not be allocated.
  kOutOfMemory = 3,
};

// The lower-case name of a code: "ok", "invalid argument", "unsupported", "out of memory".
LANEWISE_EXPORT std::string_view StatusCodeName(StatusCode code) noexcept;

// A code and, for errors, one line that names the argument, what was found and what was expected.
//
//   if (lanewise::Status s = plan->Run(tensors, workspace); !s.ok()) Log(s.message());
//
// Copyable and movable; an OK status holds no memory.
class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  Status(StatusCode code, std::string message) noexcept
      : code_(code), message_(std::move(message)) {}

  static Status InvalidArgument(std::string message) noexcept {
    return {StatusCode::kInvalidArgument, std::move(message)};
  }
  static Status Unsupported(std::string message) noexcept {
    return {StatusCode::kUnsupported, std::move(message)};
  }
  static Status OutOfMemory() noexcept { return {StatusCode::kOutOfMemory, "out of memory"}; }

  bool ok() const noexcept { return code_ == StatusCode::kOk; }
  StatusCode code() const noexcept { return code_; }
  const std::string& message() const noexcept { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// A `T`, or the error that prevented it. Reading the value of a failed result is a programming
// error: check `ok()` first.
//
//   lanewise::Result<lanewise::AttentionPlan> plan = lanewise::PlanAttention(shape, options);
//   if (!plan.ok()) return plan.status();
//   plan->Explain();
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}                  // NOLINT: implicit by design
  Result(Status status) noexcept : state_(std::move(status)) {}  // NOLINT: implicit by design

  bool ok() const noexcept { return state_.index() == 0; }
  Status status() const { return ok() ? Status() : *std::get_if<1>(&state_); }  // a copy

  T& value() noexcept { return *std::get_if<0>(&state_); }
  const T& value() const noexcept { return *std::get_if<0>(&state_); }
  T& operator*() noexcept { return value(); }
  const T& operator*() const noexcept { return value(); }
  T* operator->() noexcept { return std::get_if<0>(&state_); }
  const T* operator->() const noexcept { return std::get_if<0>(&state_); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace lanewise

#endif  // LANEWISE_STATUS_H_
