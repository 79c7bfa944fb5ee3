// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Which sanitizer a test is built with, for what sanitizers do not support.

#ifndef LANEWISE_TESTS_SUPPORT_SANITIZERS_H_
#define LANEWISE_TESTS_SUPPORT_SANITIZERS_H_

// gcc defines macros, clang has features.
#if !defined(__has_feature)
#define LANEWISE_HAS_FEATURE(feature) 0
#else
#define LANEWISE_HAS_FEATURE(feature) __has_feature(feature)
#endif

namespace lanewise::testing {

#if defined(__SANITIZE_THREAD__) || LANEWISE_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

#if defined(__SANITIZE_ADDRESS__) || LANEWISE_HAS_FEATURE(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

}  // namespace lanewise::testing

#undef LANEWISE_HAS_FEATURE

#endif  // LANEWISE_TESTS_SUPPORT_SANITIZERS_H_
