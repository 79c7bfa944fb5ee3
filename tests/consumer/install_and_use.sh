#!/usr/bin/env bash
# Copyright 2026 The lanewise authors
# SPDX-License-Identifier: Apache-2.0
#
# install_and_use.sh BUILD_DIRECTORY CXX_COMPILER C_COMPILER: installs the build into a scratch
# prefix, then builds and runs the C++ and the C consumer against it twice, with find_package and
# with pkg-config.
set -euo pipefail
build=$1 cxx_compiler=$2 c_compiler=$3
source=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/prefix" >/dev/null

# find_package_and_run SOURCE_DIRECTORY BUILD_DIRECTORY CMAKE_OPTION
find_package_and_run() {
  cmake -S "$1" -B "$2" "$3" -DCMAKE_PREFIX_PATH="$scratch/prefix" -DCMAKE_BUILD_TYPE=Release \
    >/dev/null
  cmake --build "$2" >/dev/null
  "$2/consumer"
}
find_package_and_run "$source" "$scratch/build" "-DCMAKE_CXX_COMPILER=$cxx_compiler"
find_package_and_run "$source/c" "$scratch/build_c" "-DCMAKE_C_COMPILER=$c_compiler"

library=$(dirname "$(find "$scratch/prefix" -name lanewise.pc)")
export PKG_CONFIG_PATH=$library
export LD_LIBRARY_PATH
LD_LIBRARY_PATH=$(dirname "$library")
# shellcheck disable=SC2046
"$cxx_compiler" -std=c++17 "$source/consumer.cc" -o "$scratch/consumer" \
  $(pkg-config --cflags --libs lanewise)
"$scratch/consumer"
# shellcheck disable=SC2046
"$c_compiler" -std=c99 "$source/c/consumer.c" -o "$scratch/c_consumer" \
  $(pkg-config --cflags --libs lanewise-c)
"$scratch/c_consumer"
"$scratch/prefix/bin/lanewise" --version
