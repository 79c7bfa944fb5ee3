// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Symbol visibility. The library is built with hidden visibility; what the public headers declare
// carries LANEWISE_EXPORT.

#ifndef LANEWISE_EXPORT_H_
#define LANEWISE_EXPORT_H_

#if defined(__GNUC__)
#define LANEWISE_EXPORT __attribute__((visibility("default")))
#else
#define LANEWISE_EXPORT
#endif

#endif  // LANEWISE_EXPORT_H_
