#!/usr/bin/env bash
# Copyright 2026 The lanewise authors
# SPDX-License-Identifier: Apache-2.0
#
# install_and_use.sh BUILD_DIRECTORY COMPILER: installs the build into a scratch prefix, then builds and runs
# the consumer against it twice, with find_package and with pkg-config.
set -euo pipefail
build=$1 compiler=$2
source=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
cmake -S "$source" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$scratch/build" >/dev/null
"$scratch/build/consumer"

library=$(dirname "$(find "$scratch/prefix" -name lanewise.pc)")
export PKG_CONFIG_PATH=$library
# shellcheck disable=SC2046
"$compiler" -std=c++17 "$source/consumer.cc" -o "$scratch/consumer" \
  $(pkg-config --cflags --libs lanewise)
LD_LIBRARY_PATH=$(dirname "$library") "$scratch/consumer"
"$scratch/prefix/bin/lanewise" --version
