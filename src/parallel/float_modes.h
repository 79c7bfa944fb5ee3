// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The floating-point modes that kernels are written for.

#ifndef LANEWISE_SRC_PARALLEL_FLOAT_MODES_H_
#define LANEWISE_SRC_PARALLEL_FLOAT_MODES_H_

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>  // _mm_getcsr
#elif !defined(__aarch64__)
#include <cfenv>
#endif

namespace lanewise::parallel {

// While it lives, its thread rounds to nearest, keeps subnormals and does not trap. Applications
// flush subnormals or trap for arithmetic of their own, and the scheduler carries the modes of one
// thread to others. Nothing is written if these are the modes already.
class DefaultFloatModes {
 public:
  DefaultFloatModes() noexcept : saved_(Read()) {
    if (!IsDefault(saved_)) WriteDefault();
  }
  ~DefaultFloatModes() {
    if (!IsDefault(saved_)) Write(saved_);
  }

  DefaultFloatModes(const DefaultFloatModes&) = delete;
  DefaultFloatModes& operator=(const DefaultFloatModes&) = delete;

 private:
#if defined(__SSE2__)
  using Modes = uint32_t;
  static constexpr Modes kDefault = 0x1F80;
  // Exceptions that have happened; they have no effect.
  static constexpr Modes kFlags = 0x3F;

  static Modes Read() noexcept { return _mm_getcsr(); }
  static void Write(Modes modes) noexcept { _mm_setcsr(modes); }
  static bool IsDefault(Modes modes) noexcept { return (modes & ~kFlags) == kDefault; }
  static void WriteDefault() noexcept { Write(kDefault); }
#elif defined(__aarch64__)
  using Modes = uint64_t;

  static Modes Read() noexcept {
    Modes modes;
    asm volatile("mrs %0, fpcr" : "=r"(modes));
    return modes;
  }
  static void Write(Modes modes) noexcept { asm volatile("msr fpcr, %0" : : "r"(modes)); }
  static bool IsDefault(Modes modes) noexcept { return modes == 0; }
  static void WriteDefault() noexcept { Write(0); }
#else
  using Modes = std::fenv_t;

  static Modes Read() noexcept {
    Modes modes;
    std::fegetenv(&modes);
    return modes;
  }
  static void Write(const Modes& modes) noexcept { std::fesetenv(&modes); }
  static bool IsDefault(const Modes&) noexcept { return false; }
  static void WriteDefault() noexcept { std::fesetenv(FE_DFL_ENV); }
#endif

  const Modes saved_;
};

}  // namespace lanewise::parallel

#endif  // LANEWISE_SRC_PARALLEL_FLOAT_MODES_H_
