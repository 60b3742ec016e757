// Each program in a process of its own, whose descriptors and limits it changes.
#include "core/base/program_main.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "core/base/child_main.h"
#include "tests/support/files.h"
#include "tests/support/said.h"

namespace longhaul::program_main_test {

// Ends the process with what program_main() returns after `body`.
[[noreturn]] void run_program(const std::function<int()>& body, const char* output = nullptr) {
  if (output) dup2(open(output, O_WRONLY), STDOUT_FILENO);
  std::_Exit(program_main("program", body));
}

int say_hello(int status = kDone) {
  std::printf("hello\n");
  return status;
}

TEST(ProgramMain, WhatIsSaidOnAFullDiskIsAFailure) {
  const auto expect_failure = [](const std::function<int()>& body, const std::string& reason = "") {
    EXPECT_EXIT(run_program(body, "/dev/full"), testing::ExitedWithCode(kRunFailed),
                "program: error: standard output: cannot be written" + reason);
  };
  expect_failure([] { return say_hello(); }, ": No space left on device");
  expect_failure([] {
    std::cout << "hello\n";
    return static_cast<int>(kDone);
  });
  // More than a buffer holds: it fails long before the end.
  expect_failure([] {
    for (int i = 0; i < 100000; ++i) std::puts("hello");
    return static_cast<int>(kDone);
  });
}

TEST(ProgramMain, AnotherFailureKeepsItsStatus) {
  EXPECT_EXIT(run_program([] { return say_hello(kInputWrong); }, "/dev/full"),
              testing::ExitedWithCode(kInputWrong), "^$");
  EXPECT_EXIT(run_program([] { return static_cast<int>(kDone); }, "/dev/full"),
              testing::ExitedWithCode(kDone), "^$");
}

TEST(ProgramMain, AReaderThatIsGoneIsNoFailure) {
  EXPECT_EXIT(
      {
        int ends[2];
        if (pipe(ends) != 0) std::_Exit(99);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        std::signal(SIGPIPE, SIG_IGN);
        run_program([] { return say_hello(); });
      },
      testing::ExitedWithCode(kDone), "^$");
}

// Instead of SIGXFSZ, which would end it.
TEST(ProgramMain, ALimitOnTheSizeOfFilesIsAnError) {
  const TemporaryFolder folder;
  const std::string file = folder.file("file");
  EXPECT_EXIT(
      {
        rlimit limit;
        limit.rlim_cur = limit.rlim_max = 1000;
        setrlimit(RLIMIT_FSIZE, &limit);
        run_program([&] {
          const int descriptor = open(file.c_str(), O_CREAT | O_WRONLY, 0644);
          const std::string text(4000, 'x');
          ssize_t written = 0;
          while (written >= 0) written = write(descriptor, text.data(), text.size());
          return errno == EFBIG ? 77 : 78;
        });
      },
      testing::ExitedWithCode(77), "");
}

// A library that never returns, as one that asks for memory again and again.
TEST(ChildMain, AChildThatIsStuckEndsSomeTimeAfterTheSignal) {
  EXPECT_EXIT(
      {
        watch_interrupts(1);
        std::raise(SIGTERM);
        for (;;) usleep(10000);
      },
      testing::ExitedWithCode(kInterrupted), "told to stop");
}

TEST(ChildMain, AChildThatLooksMayTakeItsTime) {
  EXPECT_EXIT(
      {
        watch_interrupts(1);
        std::raise(SIGTERM);
        if (!interrupted()) std::_Exit(99);
        for (int i = 0; i < 150; ++i) usleep(10000);  // a checkpoint
        std::_Exit(42);
      },
      testing::ExitedWithCode(42), "");
}

TEST(FolderLock, IsHeldByOneAndNamesTheFolderThatMayNotBeMade) {
  const TemporaryFolder folder;
  const FolderLock lock(folder.path);
  EXPECT_SAYS(said_by([&] { const FolderLock other(folder.path); }), "another process is writing here");
  write_text(folder.file("file"), "");
  EXPECT_EQ(said_by([&] { const FolderLock none(folder.file("file") + "/run"); }),
            folder.file("file") + "/run: cannot be made: Not a directory");
}

}  // namespace longhaul::program_main_test
