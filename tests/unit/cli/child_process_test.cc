// The protocol of docs/formats.md, with a shell as the child, which gets --progress-fd N as its last
// arguments; alone and of a pool.
#include "cli/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "cli/job_pool.h"
#include "cli/live_display.h"
#include "core/base/errors.h"
#include "tests/support/files.h"

namespace longhaul::child_process_test {

std::string log_file() {
  return testing::TempDir() + "longhaul_child" + std::to_string(getpid()) + ".log";
}

// The descriptor's number is the shell's second argument: sh -c SCRIPT sh --progress-fd N.
std::vector<std::string> shell(const std::string& script) {
  return {"/bin/sh", "-c", "exec 9>/proc/self/fd/$2; " + script, "sh"};
}

// Of a worker that mpirun started; what the user sets of Open MPI stays.
TEST(ChildProcess, IsNoRankOfTheLauncherThatStartedUs) {
  const std::vector<const char*> launchers = {
      "OMPI_COMM_WORLD_RANK",  "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE",
      "OMPI_MCA_orte_hnp_uri", "OMPI_MCA_ess"};
  for (const char* name : launchers) setenv(name, "1", 1);
  setenv("OMPI_MCA_btl", "self,tcp", 1);
  leave_launcher();
  for (const char* name : launchers) EXPECT_EQ(getenv(name), nullptr) << name;
  EXPECT_STREQ(getenv("OMPI_MCA_btl"), "self,tcp");
  unsetenv("OMPI_MCA_btl");
}

int ended(ChildProcess& child) {
  while (!child.closed()) child.read_messages();
  return child.wait();
}

TEST(ChildProcess, ProgressResultAndStatus) {
  ChildProcess child(
      shell(
          R"(echo '{"protocol": 1, "program": "x"}' >&9; echo '{"done": 40, "total": 200, "unit": "steps", "text": "loss 2.3"}' >&9; echo '{"result": {"a": 1}}' >&9)"),
      log_file());
  EXPECT_EQ(ended(child), 0);
  EXPECT_DOUBLE_EQ(child.fraction(), 0.2);
  EXPECT_EQ(child.text(), "40 of 200 steps, loss 2.3");
  EXPECT_EQ(child.result()["a"], 1);
}

TEST(ChildProcess, ErrorAndStatus) {
  ChildProcess child(shell(R"(echo '{"error": "no GPU", "exit": 2}' >&9; exit 2)"), log_file());
  EXPECT_EQ(ended(child), kInputWrong);
  EXPECT_EQ(child.error(), "no GPU");
  ChildProcess of_another_build(shell(R"(echo '{"protocol": 2, "program": "x"}' >&9; echo 'noise' >&9)"),
                                log_file());
  ended(of_another_build);
  EXPECT_NE(of_another_build.error().find("protocol 2"), std::string::npos);
  ChildProcess killed(shell("kill -9 $$"), log_file());
  EXPECT_EQ(ended(killed), 128 + 9);
}

TEST(ChildProcess, OfMpirunSpeaksOnStandardOutputAndStopsBySigusr1) {
  ChildProcess child(
      {"/bin/sh", "-c",
       R"(trap 'exit 130' USR1; echo '{"done": 1, "total": 2}'; while :; do sleep 0.05; done)", "sh"},
      log_file(), true);
  while (child.fraction() == 0) child.read_messages();
  EXPECT_DOUBLE_EQ(child.fraction(), 0.5);
  child.stop();
  EXPECT_EQ(ended(child), 130);
}

TEST(ChildProcess, AnUnwritableLogIsARunError) {
  EXPECT_THROW(ChildProcess(shell("true"), "/no/such/folder/log.txt"), RunError);
}

// Between fork and exec a child has the handlers of longhaul run, which only count: a signal of that moment,
// as that of a parent that has just died, must not be lost.
TEST(ChildProcess, ASignalBeforeItsProgramBeginsEndsItToo) {
  struct sigaction old_interrupt {
  }, old_termination{};
  sigaction(SIGINT, nullptr, &old_interrupt);
  sigaction(SIGTERM, nullptr, &old_termination);
  count_interrupts();
  for (int i = 0; i < 20; ++i)
    for (const int signal : {SIGINT, SIGTERM}) {
      const pid_t child = start_process({"/bin/sleep", "1"}, log_file());
      kill(child, signal);
      EXPECT_EQ(wait_for(child), 128 + signal);
    }
  sigaction(SIGINT, &old_interrupt, nullptr);
  sigaction(SIGTERM, &old_termination, nullptr);
}

std::vector<JobResult> run_shell(const std::string& script, const std::string& folder,
                                 std::chrono::seconds patience = kPatience) {
  LiveDisplay display(/*quiet=*/true);
  const Job job{"job", folder, {"/bin/sh", "-c", script, "sh"}};
  return run_jobs(
      {job}, 1, "phase", display, [](std::size_t, const JobResult&) {}, patience);
}

TEST(JobPool, AChildWithoutAWordIsQuotedFromItsLog) {
  const TemporaryFolder folder, silent;
  EXPECT_EQ(
      run_shell("echo first; echo 'no more memory' >&2; echo ----; exit 3", folder.path)[0].error,
      "ended with status 3 without a word; the last line of " + folder.path + "/log.txt: no more memory");
  EXPECT_EQ(run_shell("kill -SEGV $$", silent.path)[0].error,
            "was ended by signal 11 (Segmentation fault); " + silent.path + "/log.txt is empty");
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

}  // namespace longhaul::child_process_test
