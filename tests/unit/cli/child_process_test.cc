// The protocol of docs/formats.md, with a shell as the child.
#include "cli/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "core/base/errors.h"

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

TEST(ChildProcess, ProgressResultAndStatus) {
  ChildProcess child(
      shell(
          R"(echo '{"protocol": 1, "program": "x"}' >&9; echo '{"done": 40, "total": 200, "unit": "steps", "text": "loss 2.3"}' >&9; echo '{"result": {"a": 1}}' >&9)"),
      log_file());
  while (!child.closed()) child.read_messages();
  EXPECT_EQ(child.wait(), 0);
  EXPECT_DOUBLE_EQ(child.fraction(), 0.2);
  EXPECT_EQ(child.text(), "40 of 200 steps, loss 2.3");
  EXPECT_EQ(child.result()["a"], 1);
}

TEST(ChildProcess, ErrorAndStatus) {
  ChildProcess child(shell(R"(echo '{"error": "no GPU", "exit": 2}' >&9; exit 2)"), log_file());
  while (!child.closed()) child.read_messages();
  EXPECT_EQ(child.wait(), kInputWrong);
  EXPECT_EQ(child.error(), "no GPU");
}

TEST(ChildProcess, AMixedBuildIsSaid) {
  ChildProcess child(shell(R"(echo '{"protocol": 2, "program": "x"}' >&9; echo 'noise' >&9)"), log_file());
  while (!child.closed()) child.read_messages();
  child.wait();
  EXPECT_NE(child.error().find("protocol 2"), std::string::npos);
}

TEST(ChildProcess, AKilledOneIs128PlusTheSignal) {
  ChildProcess child(shell("kill -9 $$"), log_file());
  while (!child.closed()) child.read_messages();
  EXPECT_EQ(child.wait(), 128 + 9);
}

TEST(ChildProcess, OfMpirunSpeaksOnStandardOutputAndStopsBySigusr1) {
  ChildProcess child(
      {"/bin/sh", "-c",
       R"(trap 'exit 130' USR1; echo '{"done": 1, "total": 2}'; while :; do sleep 0.05; done)", "sh"},
      log_file(), true);
  while (child.fraction() == 0) child.read_messages();
  EXPECT_DOUBLE_EQ(child.fraction(), 0.5);
  child.stop();
  while (!child.closed()) child.read_messages();
  EXPECT_EQ(child.wait(), 130);
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

}  // namespace longhaul::child_process_test
