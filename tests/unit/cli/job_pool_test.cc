// With a shell as the child, which gets --progress-fd N as its last arguments.
#include "cli/job_pool.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "cli/child_process.h"
#include "tests/support/files.h"

namespace longhaul::job_pool_test {

std::vector<JobResult> run_shell(const std::string& script, const std::string& folder,
                                 std::chrono::seconds patience = kPatience) {
  LiveDisplay display(/*quiet=*/true);
  const Job job{"job", folder, {"/bin/sh", "-c", script, "sh"}};
  return run_jobs(
      {job}, 1, "phase", display, [](std::size_t, const JobResult&) {}, patience);
}

TEST(JobPool, AChildWithoutAWordIsQuotedFromItsLog) {
  const TemporaryFolder folder;
  EXPECT_EQ(
      run_shell("echo first; echo 'no more memory' >&2; echo ----; exit 3", folder.path)[0].error,
      "ended with status 3 without a word; the last line of " + folder.path + "/log.txt: no more memory");
}

TEST(JobPool, ASignalHasItsName) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_shell("kill -SEGV $$", folder.path)[0].error,
            "was ended by signal 11 (Segmentation fault); " + folder.path + "/log.txt is empty");
}

// In a process of its own: interrupts are counted for ever.
TEST(JobPool, AChildThatDoesNotStopIsKilled) {
  const TemporaryFolder folder;
  EXPECT_EXIT(
      {
        count_interrupts();
        alarm(20);  // it would hang
        std::thread interrupt([] {
          usleep(300000);
          std::raise(SIGTERM);
        });
        const std::vector<JobResult> results =
            run_shell("trap '' INT TERM; while :; do sleep 0.1; done", folder.path, std::chrono::seconds(1));
        interrupt.join();
        std::_Exit(results[0].exit_status == 128 + SIGKILL ? 42 : 1);
      },
      testing::ExitedWithCode(42), "");
}

// As in `longhaul run ... | head`; the children have the signal as it was.
TEST(JobPool, ALongCommandOutlivesItsReader) {
  EXPECT_EXIT(
      {
        count_interrupts();
        int ends[2];
        if (pipe(ends) != 0) std::_Exit(99);
        close(ends[0]);
        const bool is_refused = write(ends[1], "x", 1) < 0;
        const pid_t child = start_process({"/bin/sh", "-c", "kill -PIPE $$; sleep 1"}, "/dev/null");
        std::_Exit(is_refused && wait_for(child) == 128 + SIGPIPE ? 42 : 1);
      },
      testing::ExitedWithCode(42), "");
}

}  // namespace longhaul::job_pool_test
