// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What `lanewise run` leaves in a folder when it is stopped, or nobody gets what it prints.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <string>

#include "tests/tools/run_fixture.h"

namespace lanewise::tools {
namespace {

class RunFilesTest : public RunTest {
 protected:
  // That the inputs and an old output are all there is.
  void ExpectUntouched() const {
    EXPECT_EQ(FileNames(), names_);
    EXPECT_EQ(ContentsOf(folder_.Path("out.npy")), "old");
  }

  std::set<std::string> names_ = {"k.npy", "out.npy", "q.npy", "v.npy"};
};

TEST_F(RunFilesTest, LeavesNothingWhenASignalEndsIt) {
  const int probe = open(folder_.root().c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
  if (probe < 0) GTEST_SKIP() << "no files without names in " << folder_.root();
  close(probe);
  // The log-sum-exp is more than a pipe holds, so that the command waits with its output written.
  WriteInputs({100000, 1}, {1, 1}, {1, 1});
  folder_.Write("out.npy", "old");
  const std::string pipe = folder_.Path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  names_.insert("pipe");
  const machine::TempTree captured;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGKILL}) {
    const pid_t child =
        StartCommand(RunArguments({"--lse", pipe}), {}, captured.Path("out"), captured.Path("err"));
    ASSERT_GT(child, 0);
    // Returns once the command has opened the other end, and so has created its files.
    const int reader = open(pipe.c_str(), O_RDONLY | O_CLOEXEC);
    char byte = 0;
    ASSERT_EQ(read(reader, &byte, 1), 1);
    kill(child, signal);
    const int status = WaitFor(child);
    close(reader);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    ExpectUntouched();
  }
}

TEST_F(RunFilesTest, LeavesNothingWhenAFileMayNotBecomeSoLarge) {
  WriteInputs({9, 8}, {20, 8}, {20, 8});
  folder_.Write("out.npy", "old");
  struct rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit limit = before;
  limit.rlim_cur = 200;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const Outcome outcome = Run();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(FailsWith(outcome, 1, "out.npy: cannot be written: File too large"));
  ExpectUntouched();
}

TEST_F(RunFilesTest, ChangesNoFileIfStandardOutputCannotBeWritten) {
  WriteInputs({9, 8}, {20, 8}, {20, 8});
  folder_.Write("out.npy", "old");
  for (const char* path : {"/dev/full", ""}) {
    for (const Arguments& more :
         {Arguments{}, Arguments{"--json"}, Arguments{"--lse", folder_.Path("lse.npy")}}) {
      EXPECT_TRUE(
          FailsWith(RunCommand(RunArguments(more), {}, path), 1, "standard output cannot be"));
      ExpectUntouched();
    }
  }
}

TEST_F(RunFilesTest, KeepsOldFilesIfALaterNameIsTooLong) {
  WriteInputs({9, 8}, {20, 8}, {20, 8});
  folder_.Write("out.npy", "old");
  ExpectFailure({"--lse", folder_.Path(std::string(300, 'x') + ".npy")},
                "cannot be created: File name too long");
  ExpectUntouched();
}

}  // namespace
}  // namespace lanewise::tools
