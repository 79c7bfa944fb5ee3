# Copyright 2026 The lanewise authors
# SPDX-License-Identifier: Apache-2.0

# What every target of the project shares.

set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# lanewise_setup(target): language level, warnings, sanitizers, include root.
function(lanewise_setup target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # gcc 12 sees overlap in std::string concatenation (gcc bug 105651).
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(LANEWISE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(LANEWISE_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${LANEWISE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${LANEWISE_SANITIZE})
  endif()
endfunction()

# lanewise_unoptimized_if_sanitized(source...): for sources made of kernels. Inlined, unrolled and
# instrumented they take gcc 12 many minutes each; without optimization, seconds.
function(lanewise_unoptimized_if_sanitized)
  if(LANEWISE_SANITIZE)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O0)
  endif()
endfunction()
