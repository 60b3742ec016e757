// A training that is spread over processes leaves the bytes of one process, whatever befalls it on the way.
#include <map>

#include "tests/support/every_method.h"
#include "tests/unit/trainer/rank_processes.h"
#include "trainer/checkpoint/checkpoint_folder.h"
#include "trainer/ranks/mpi_ranks.h"

namespace longhaul::ranks_test {

namespace fs = std::filesystem;

const Json kDdp = {{"name", "ddp"}}, kNoloco = {{"name", "noloco"}, {"inner_steps", 4}},
           kPresend = changed(kNoloco, {{"pattern", "presend"}});
using Arguments = RankProcesses::Arguments;

// Eight replicas: of pairs, some live in one process and some in two.
Json scenario_of(const Json& method, int steps = 10) {
  return changed(small_scenario(method, steps), {{"replicas", 8}});
}

// On the CPU, unless a test says so.
class RanksTest : public testing::Test {
 protected:
  void use(const Json& scenario, const std::string& name = "case.json") {
    case_file_ = folder_.file(name);
    write_text(case_file_, only_case(scenario, folder_).resolved.dump());
  }

  Arguments arguments(const std::string& out, const Arguments& more = {}) const {
    Arguments all = {"--case", case_file_, "--out", folder_.file(out), "--quiet", "--threads", "1"};
    if (std::find(more.begin(), more.end(), "--device") == more.end())
      all.insert(all.end(), {"--device", "cpu"});
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {"--rank-timeout", "120"});
    return all;
  }

  void train_with(int ranks, const std::string& out, const Arguments& more = {}) {
    expect_said(RankProcesses(ranks, arguments(out, more), folder_).wait(), 0, {});
  }

  std::string file(const std::string& out, const std::string& name) const {
    return folder_.file(out + "/" + name);
  }

  // The tables, the result and the last checkpoint, but for wall times and a size in the latter's JSON.
  void expect_same(const std::string& out, const std::string& whole, int last_step = 10) const {
    const std::string last = "checkpoints/step-" + std::to_string(last_step);
    for (const std::string& name : std::vector<std::string>{"metrics.csv", "exchanges.jsonl", "training.json",
                                                            last + ".safetensors", "done"})
      EXPECT_EQ(read_text(file(out, name)), read_text(file(whole, name))) << name;
    EXPECT_EQ(read_csv(file(out, "step_times.csv")).rows.size(),
              read_csv(file(whole, "step_times.csv")).rows.size());
    EXPECT_EQ(without_times(file(out, last + ".json")), without_times(file(whole, last + ".json")));
  }

  void expect_the_bytes_of_one_process(const Json& scenario, int ranks, const Arguments& more = {}) {
    use(scenario);
    for (const char* out : {"whole", "ranks"}) fs::remove_all(folder_.file(out));
    train_with(0, "whole", more);
    train_with(ranks, "ranks", more);
    expect_same("ranks", "whole");
  }

  static Json without_times(const std::string& file) {
    Json state = Json::parse(read_text(file));
    state.erase("hash");
    state["files"].erase("step_times.csv");
    return state;
  }

  void expect_ended(int ranks, int status, const std::vector<std::string>& parts) const {
    expect_said(RankProcesses(ranks, arguments("out"), folder_).wait(), status, parts);
  }

  // Until `words` stand in a file of theirs.
  static void wait_for(const std::string& words, const std::string& name, const RankProcesses& writers) {
    const auto is_there = [&] { return read_text(name).find(words) != std::string::npos; };
    for (int i = 0; i < 12000 && !(fs::exists(name) && is_there()) && writers.run(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_TRUE(fs::exists(name) && is_there()) << name << (writers.run() ? "" : ": they ended before");
  }

  TemporaryFolder folder_;
  std::string case_file_;
};

class RanksOfMethod : public RanksTest, public testing::WithParamInterface<Json> {};

TEST_P(RanksOfMethod, LeaveTheBytesOfOneProcess) {
  expect_the_bytes_of_one_process(scenario_of(GetParam()), 4);
}

INSTANTIATE_TEST_SUITE_P(Methods, RanksOfMethod, testing::ValuesIn(every_method_of_replicas(4)));

TEST_F(RanksTest, TheEnsembleIsThatOfOneProcess) {
  const Json own = scenario_of({{"name", "independent"}, {"data", "own"}});
  expect_the_bytes_of_one_process(changed(own, {{"train", {{"evaluate_ensemble", true}}}}), 4);
  EXPECT_SAYS(read_text(file("whole", "training.json")), "final_loss_of_ensemble");
}

// All ranks on one card; gpu_test.cc has every method.
TEST_F(RanksTest, OnACardTooTheyLeaveTheBytesOfOneProcess) {
  if (choose_device("auto", "") != Device::kCuda) GTEST_SKIP() << "there is no GPU";
  expect_the_bytes_of_one_process(scenario_of(kPresend), 2, {"--device", "cuda", "--backend", "loop"});
}

// At each outer step one of five and of nine sits out: alone in its process, and beside two others.
TEST_F(RanksTest, LeaveTheBytesOfOneProcessWhereOneSitsOut) {
  for (const auto& [replicas, ranks] : {std::pair{5, 5}, {9, 3}})
    for (const Json& method : {kPresend, kNoloco})
      expect_the_bytes_of_one_process(changed(scenario_of(method), {{"replicas", replicas}}), ranks);
}

// With anchors in flight, long before a rank would have given up another; resumed by more processes or fewer.
TEST_F(RanksTest, ARankThatIsKilledEndsTheOthersAndTheRunResumesToTheSameBytes) {
  use(changed(scenario_of(kPresend, 120), {{"train", {{"checkpoint_every", 5}}}}));
  train_with(0, "whole");
  for (int victim : {0, 2}) {
    const std::string out = "killed-" + std::to_string(victim);
    {
      RankProcesses processes(4, arguments(out), folder_);
      wait_for("", file(out, "checkpoints/step-10.json"), processes);
      processes.kill(victim, SIGKILL);
      const auto begin = std::chrono::steady_clock::now();
      expect_said(processes.wait(), 128 + SIGKILL,
                  {"process rank " + std::to_string(victim), "exited on signal 9"});
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
    }
    EXPECT_FALSE(fs::exists(file(out, "done")));
    train_with(victim == 0 ? 2 : 8, out, {"--resume"});
    expect_same(out, "whole", 120);
  }
}

// As a machine that vanishes: its launcher does not see it either.
TEST_F(RanksTest, ARankThatFallsSilentIsGivenUpAfterTheTimeout) {
  use(scenario_of(kDdp, 100000));
  for (const int silent : {1, 0}) {
    Arguments all = arguments("out");
    all.back() = "4";
    RankProcesses processes(2, all, folder_);
    wait_for("\n8,", file("out", "metrics.csv"), processes);
    processes.kill(silent, SIGSTOP);
    expect_said(processes.wait(), 1,
                {"rank " + std::to_string(silent) + " has not answered for 4 s", "--resume"});
    fs::remove_all(folder_.file("out"));
  }
}

// A stranger who reached one could keep them waiting.
TEST_F(RanksTest, OfOneMachineListenOnNoPort) {
  use(scenario_of(kDdp, 100000));
  RankProcesses processes(2, arguments("out"), folder_);
  wait_for("\n8,", file("out", "metrics.csv"), processes);
  for (const int rank : {0, 1}) EXPECT_EQ(processes.ports_of(rank), std::set<std::string>()) << rank;
  processes.kill_mpirun(SIGUSR1);
  expect_said(processes.wait(), 130, {});
}

// It does not have to wait for the timeout, and says after seconds for whom.
TEST_F(RanksTest, ASignalEndsARankThatASilentOneKeepsWaiting) {
  use(scenario_of(kDdp, 100000));
  RankProcesses processes(2, arguments("out"), folder_);
  wait_for("\n8,", file("out", "metrics.csv"), processes);
  processes.kill(1, SIGSTOP);
  processes.kill(0, SIGTERM);
  expect_said(processes.wait(), 130,
              {"rank 1 has not answered for 10 s; it is given up after 120 s",
               "it was told to stop, and rank 1 has not answered for 30 s", "--resume"});
}

// SIGTERM to one rank, or SIGUSR1 to mpirun, which passes it on to all.
TEST_F(RanksTest, ASignalStopsAllAtTheSameStepWithACheckpoint) {
  constexpr int kSteps = 480;  // half a second and more on two processes
  use(scenario_of(kPresend, kSteps));
  train_with(0, "whole");
  for (const bool to_one : {true, false}) {
    const std::string out = to_one ? "one" : "all";
    {
      RankProcesses processes(2, arguments(out), folder_);
      wait_for("\n8,", file(out, "metrics.csv"), processes);
      to_one ? processes.kill(1, SIGTERM) : processes.kill_mpirun(SIGUSR1);
      expect_said(processes.wait(), 130, {});
    }
    const std::vector<int> steps = checkpoint_steps(file(out, "checkpoints"));
    ASSERT_FALSE(steps.empty());
    EXPECT_LT(steps[0], kSteps);
    train_with(4, out, {"--resume"});
    expect_same(out, "whole", kSteps);
  }
}

TEST_F(RanksTest, WhatFailsOnOneRankEndsAllWithItsWords) {
  use(scenario_of(kDdp));
  fs::create_directories(folder_.file("out"));
  fs::create_symlink("/dev/full", folder_.file("out/metrics.csv"));
  expect_ended(2, 1, {"rank 0: error: ", "metrics.csv: cannot be written"});
  fs::remove_all(folder_.file("out"));
  const Json optimizer = {{"lr", 1e30}, {"warmup", 100}};
  use(changed(scenario_of({{"name", "independent"}}, 200), {{"train", {{"optimizer", optimizer}}}}));
  expect_ended(2, 1, {"step ", "of replica 0 is not finite"});
  EXPECT_FALSE(checkpoint_steps(file("out", "checkpoints")).empty());
}

TEST_F(RanksTest, TwoTrainingsAtOnceDoNotMeet) {
  use(scenario_of(kPresend));
  train_with(0, "whole");
  RankProcesses first(2, arguments("first"), folder_);
  train_with(2, "second");
  expect_said(first.wait(), 0, {});
  for (const char* out : {"first", "second"}) expect_same(out, "whole");
}

// Anything else is wrong input.
TEST_F(RanksTest, DivideTheReplicasAndHaveTheSameCase) {
  expect_the_bytes_of_one_process(scenario_of({{"name", "single"}}), 1);
  expect_ended(2, 2, {"mpirun -n: found 2 ranks", "1 replica"});
  use(scenario_of(kDdp));
  expect_ended(3, 2, {"mpirun -n: found 3 ranks, but the case has 8 replicas", "1, 2, 4, 8"});
  EXPECT_FALSE(fs::exists(folder_.file("out")));
  const Arguments first = arguments("out");
  use(scenario_of(kDdp, 12), "other.json");
  expect_said(RankProcesses(2, first, folder_, arguments("out")).wait(), 2, {"rank 1 has ", "as rank 0"});
}

class LaunchedRankTest : public RanksTest {
 protected:
  void SetUp() override { set({}); }
  void TearDown() override { set({}); }

  static void set(const std::map<std::string, std::string>& environment) {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE",
                             "PMIX_RANK", "SLURM_STEP_NUM_TASKS"})
      ::unsetenv(name);
    for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  }
  static void expect(const std::map<std::string, std::string>& environment, int rank, int size) {
    set(environment);
    EXPECT_EQ(launched_rank().rank, rank);
    EXPECT_EQ(launched_rank().size, size);
  }
};

// srun sets the last without --mpi too: then each process is alone.
TEST_F(LaunchedRankTest, IsWhatTheLauncherSays) {
  expect({}, 0, 1);
  expect({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}}, 3, 8);
  expect({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, 1, 2);
  expect({{"PMIX_RANK", "4"}, {"SLURM_STEP_NUM_TASKS", "5"}}, 4, 5);
  expect({{"SLURM_STEP_NUM_TASKS", "5"}}, 0, 1);
  expect({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}}, 0, 1);
}

// As under the mpirun of another MPI: ours finds itself alone.
TEST_F(LaunchedRankTest, ThatMpiDoesNotConfirmIsRefused) {
  use(scenario_of(kDdp));
  set({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
  expect_ended(0, 1, {"started as rank 1 of 2, but MPI finds rank 0 of 1", "mpirun"});
}

}  // namespace longhaul::ranks_test
