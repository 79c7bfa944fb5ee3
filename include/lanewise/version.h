// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The version of the library, the single place where it is written: CMake reads it from here.

#ifndef LANEWISE_VERSION_H_
#define LANEWISE_VERSION_H_

#define LANEWISE_VERSION_MAJOR 0
#define LANEWISE_VERSION_MINOR 1
#define LANEWISE_VERSION_PATCH 0

#endif  // LANEWISE_VERSION_H_
