// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A temporary directory that stands in for /proc or /sys.

#ifndef LANEWISE_TESTS_MACHINE_TEMP_TREE_H_
#define LANEWISE_TESTS_MACHINE_TEMP_TREE_H_

#include <gtest/gtest.h>
#include <stdlib.h>  // mkdtemp

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace lanewise::machine {

class TempTree {
 public:
  TempTree() : root_(::testing::TempDir() + "lanewise_machine_XXXXXX") {
    if (mkdtemp(root_.data()) == nullptr) ADD_FAILURE() << "cannot create " << root_;
  }
  ~TempTree() {
    std::error_code error;
    std::filesystem::remove_all(root_, error);
  }
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;

  // The root; `Path("proc")` is a directory or file in it.
  const std::string& root() const { return root_; }
  std::string Path(const std::string& relative) const { return root_ + "/" + relative; }

  // Writes a file and the directories above it.
  void Write(const std::string& relative, std::string_view content) const {
    const std::filesystem::path path = Path(relative);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    file.close();
    EXPECT_TRUE(file) << "cannot write " << path;
  }

 private:
  std::string root_;
};

}  // namespace lanewise::machine

#endif  // LANEWISE_TESTS_MACHINE_TEMP_TREE_H_
