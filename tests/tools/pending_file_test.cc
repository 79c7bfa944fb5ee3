// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Output files: all or none, and what was there before stays after an error.

#include "tools/pending_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tests/machine/temp_tree.h"
#include "tests/tools/command_runner.h"

namespace lanewise::tools {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Names = std::set<std::string>;

class PendingFileTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.Path(name); }

  Names FileNames() const {
    Names names;
    for (const auto& entry : fs::directory_iterator(folder_.root())) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  // Files named so, each with the text "fresh".
  std::vector<PendingFile> Fresh(const std::vector<std::string>& names) const {
    std::vector<PendingFile> files;
    for (const std::string& name : names) {
      Result<PendingFile> file = PendingFile::Create(Path(name));
      EXPECT_TRUE(file.ok()) << file.status().message();
      if (!file.ok()) continue;
      EXPECT_TRUE(file->Append(std::as_bytes(std::span("fresh", 5))).ok());
      files.push_back(std::move(*file));
    }
    return files;
  }

  static Status Commit(std::vector<PendingFile>& files) {
    std::vector<PendingFile*> pointers;
    for (PendingFile& file : files) pointers.push_back(&file);
    return PendingFile::Commit(pointers);
  }

  const machine::TempTree folder_;
};

TEST_F(PendingFileTest, CommitsAll) {
  folder_.Write("old1", "old");
  folder_.Write("old2", "old");
  std::vector<PendingFile> files = Fresh({"old1", "new1", "old2", "new2"});
  EXPECT_EQ(FileNames(), (Names{"old1", "old2"}));
  EXPECT_EQ(ContentsOf(Path("old1")), "old");
  const Status status = Commit(files);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(FileNames(), (Names{"new1", "new2", "old1", "old2"}));
  for (const std::string& name : FileNames()) EXPECT_EQ(ContentsOf(Path(name)), "fresh") << name;
}

TEST_F(PendingFileTest, CommitsNoneIfOneCannotBe) {
  folder_.Write("old", "old");
  folder_.Write("target", "old");
  fs::create_symlink("target", Path("link"));
  fs::create_symlink("nowhere", Path("dangling"));
  const Names before = {"dangling", "last", "link", "old", "target"};
  std::vector<PendingFile> files = Fresh({"old", "link", "new", "dangling", "last"});
  fs::create_directory(Path("last"));
  EXPECT_THAT(Commit(files).message(),
              AllOf(StartsWith(Path("last")), HasSubstr("cannot be replaced")));
  EXPECT_EQ(FileNames(), before);
  EXPECT_EQ(ContentsOf(Path("old")), "old");
  EXPECT_EQ(ContentsOf(Path("target")), "old");
  EXPECT_EQ(fs::read_symlink(Path("link")), "target");
  EXPECT_EQ(fs::read_symlink(Path("dangling")), "nowhere");
}

TEST_F(PendingFileTest, CommitsNoneIfAFolderIsGone) {
  folder_.Write("old", "old");
  fs::create_directory(Path("folder"));
  std::vector<PendingFile> files = Fresh({"old", "new", "folder/last"});
  fs::remove_all(Path("folder"));
  EXPECT_THAT(Commit(files).message(), StartsWith(Path("folder/last")));
  EXPECT_EQ(FileNames(), Names{"old"});
  EXPECT_EQ(ContentsOf(Path("old")), "old");
}

TEST_F(PendingFileTest, MakesTheTargetOfALink) {
  fs::create_directory(Path("folder"));
  fs::create_symlink("folder/link", Path("link"));
  fs::create_symlink("target", Path("folder/link"));
  EXPECT_EQ(EndOfLinks(Path("link")), Path("folder/target"));
  std::vector<PendingFile> files = Fresh({"link"});
  ASSERT_TRUE(Commit(files).ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(ContentsOf(Path("folder/target")), "fresh");
}

TEST_F(PendingFileTest, RefusesNamesBeforeAnythingIsWritten) {
  folder_.Write("file", "");
  for (const std::string& name :
       {std::string(300, 'x'), std::string("file/x"), std::string("missing/x")}) {
    EXPECT_THAT(PendingFile::Create(Path(name)).status().message(),
                AllOf(StartsWith(Path(name)), HasSubstr("cannot be created")));
  }
  EXPECT_EQ(FileNames(), Names{"file"});
}

}  // namespace
}  // namespace lanewise::tools
