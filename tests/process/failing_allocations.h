// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Allocations of this program that fail on demand.

#ifndef LANEWISE_TESTS_PROCESS_FAILING_ALLOCATIONS_H_
#define LANEWISE_TESTS_PROCESS_FAILING_ALLOCATIONS_H_

namespace lanewise::testing {

// While one lives, allocation `index` of operator new on this thread, counted from its start, and
// all later ones fail.
class FailingAllocations {
 public:
  explicit FailingAllocations(int index);
  ~FailingAllocations();
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;

  // Whether any has failed.
  bool failed() const;
};

}  // namespace lanewise::testing

#endif  // LANEWISE_TESTS_PROCESS_FAILING_ALLOCATIONS_H_
