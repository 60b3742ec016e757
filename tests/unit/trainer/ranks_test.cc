// A training that is spread over processes leaves the bytes of one process, whatever befalls it on the way.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/csv.h"
#include "tests/support/every_method.h"
#include "tests/unit/trainer/rank_processes.h"
#include "trainer/checkpoint/checkpoint_folder.h"
#include "trainer/ranks/rank_store.h"
#include "trainer/ranks/socket.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

const Json kPresend = {{"name", "noloco"}, {"inner_steps", 4}, {"pattern", "presend"}};

// Eight replicas: of pairs, some live in one process and some in two.
Json scenario_of(const Json& method, int steps = 10) {
  Json scenario = small_scenario(method, steps);
  scenario["replicas"] = 8;
  return scenario;
}

// On the CPU, unless a test says so.
class RanksTest : public testing::Test {
 protected:
  void use(const Json& scenario) {
    case_file_ = folder_.file("case.json");
    write_text(case_file_, only_case(scenario, folder_).resolved.dump());
  }

  std::vector<std::string> arguments(const std::string& out,
                                     const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {"--case",  case_file_,  "--out", folder_.file(out),
                                    "--quiet", "--threads", "1"};
    if (std::find(more.begin(), more.end(), "--device") == more.end())
      all.insert(all.end(), {"--device", "cpu"});
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {"--rank-timeout", "120"});
    return all;
  }

  void train_with(int ranks, const std::string& out, const std::vector<std::string>& more = {}) {
    RankProcesses processes(ranks, arguments(out, more), folder_);
    for (const RankEnded& ended : processes.wait()) EXPECT_EQ(ended.status, 0) << ended.output;
  }

  std::string file(const std::string& out, const std::string& name) const {
    return folder_.file(out + "/" + name);
  }

  // The tables, the result and the last checkpoint. Wall times, and with them a size in the checkpoint's
  // JSON, differ from run to run.
  void expect_same(const std::string& out, const std::string& whole, int last_step = 10) const {
    const std::string tensors = "checkpoints/step-" + std::to_string(last_step) + ".safetensors";
    for (const std::string& name : {std::string("metrics.csv"), std::string("exchanges.jsonl"),
                                    std::string("training.json"), tensors, std::string("done")})
      EXPECT_EQ(read_text(file(out, name)), read_text(file(whole, name))) << name;
    EXPECT_EQ(read_csv(file(out, "step_times.csv")).rows.size(),
              read_csv(file(whole, "step_times.csv")).rows.size());
    const std::string json = "checkpoints/step-" + std::to_string(last_step) + ".json";
    EXPECT_EQ(without_times(file(out, json)), without_times(file(whole, json)));
  }

  static Json without_times(const std::string& file) {
    Json state = Json::parse(read_text(file));
    state.erase("hash");
    state["files"].erase("step_times.csv");
    return state;
  }

  static void expect_said(const RankEnded& ended, int status, const std::vector<std::string>& parts) {
    EXPECT_EQ(ended.status, status) << ended.output;
    for (const std::string& part : parts)
      EXPECT_NE(ended.output.find(part), std::string::npos) << part << "\nnot in: " << ended.output;
  }

  static void wait_for_file(const std::string& name, const RankProcesses& writers) {
    for (int i = 0; i < 12000 && !fs::exists(name) && writers.all_run(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_TRUE(fs::exists(name)) << name << (writers.all_run() ? "" : ": a rank ended before");
  }

  // Its evaluation is in the table.
  void wait_for_step_8(const RankProcesses& writers) const {
    wait_for_file(file("out", "metrics.csv"), writers);
    const auto is_there = [&] {
      return read_text(file("out", "metrics.csv")).find("\n8,") != std::string::npos;
    };
    while (!is_there() && writers.all_run()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_TRUE(is_there());
  }

  TemporaryFolder folder_;
  std::string case_file_;
};

class RanksOfMethod : public RanksTest, public testing::WithParamInterface<Json> {};

TEST_P(RanksOfMethod, LeaveTheBytesOfOneProcess) {
  use(scenario_of(GetParam()));
  train_with(1, "whole");
  for (int ranks : {2, 4}) {
    const std::string out = "ranks-" + std::to_string(ranks);
    train_with(ranks, out);
    expect_same(out, "whole");
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, RanksOfMethod, testing::ValuesIn(every_method_of_replicas(4)));

TEST_F(RanksTest, TheEnsembleIsThatOfOneProcess) {
  Json scenario = scenario_of({{"name", "independent"}, {"data", "own"}});
  scenario["train"]["evaluate_ensemble"] = true;
  use(scenario);
  train_with(1, "whole");
  train_with(4, "ranks-4");
  expect_same("ranks-4", "whole");
  EXPECT_NE(read_text(file("whole", "training.json")).find("final_loss_of_ensemble"), std::string::npos);
}

TEST_F(RanksTest, OneMachineWithTheWholeBatchIsOneProcess) {
  use(scenario_of({{"name", "single"}}));
  RankProcesses ranks(2, arguments("out"), folder_);
  for (const RankEnded& ended : ranks.wait()) expect_said(ended, 2, {"WORLD_SIZE", "1 replica"});
}

// All ranks on one card; gpu_test.cc has every method.
TEST_F(RanksTest, OnACardTooTheyLeaveTheBytesOfOneProcess) {
  if (choose_device("auto", "") != Device::kCuda) GTEST_SKIP() << "there is no GPU";
  use(scenario_of(kPresend));
  const std::vector<std::string> on_the_card = {"--device", "cuda", "--backend", "loop"};
  train_with(1, "whole", on_the_card);
  train_with(2, "ranks", on_the_card);
  expect_same("ranks", "whole");
}

// At each outer step one of five and of nine sits out: alone in its process, and beside two others.
TEST_F(RanksTest, LeaveTheBytesOfOneProcessWhereOneSitsOut) {
  for (const auto& [replicas, ranks] : {std::pair{5, 5}, {9, 3}})
    for (const Json& method : {kPresend, Json{{"name", "noloco"}, {"inner_steps", 4}}}) {
      Json scenario = small_scenario(method, 10);
      scenario["replicas"] = replicas;
      use(scenario);
      const std::string name = std::to_string(replicas) + method.value("pattern", "exchange");
      train_with(1, "whole-" + name);
      train_with(ranks, "ranks-" + name);
      expect_same("ranks-" + name, "whole-" + name);
    }
}

TEST_F(RanksTest, LeaveTheBytesOfOneProcessInFloat32Too) {
  Json scenario = scenario_of(kPresend);
  scenario["workload"] = {{"wire", "fp32"}};
  use(scenario);
  train_with(1, "whole");
  train_with(8, "ranks");
  expect_same("ranks", "whole");
}

// Killed with anchors in flight (they are from step 4 on), resumed with another number of processes.
TEST_F(RanksTest, ARankThatIsKilledEndsTheOthersAndTheRunResumesToTheSameBytes) {
  Json scenario = scenario_of(kPresend, 120);
  scenario["train"]["checkpoint_every"] = 5;
  use(scenario);
  train_with(1, "whole");
  for (int victim : {0, 2}) {
    const std::string out = "killed-" + std::to_string(victim);
    {
      RankProcesses processes(4, arguments(out), folder_);
      wait_for_file(file(out, "checkpoints/step-10.json"), processes);
      processes.kill(victim, SIGKILL);
      EXPECT_EQ(processes.wait(victim).status, 128 + SIGKILL);
      for (int rank : {0, 1, 2, 3})
        if (rank != victim) expect_said(processes.wait(rank), 1, {" is gone (", "--resume"});
    }
    EXPECT_FALSE(fs::exists(file(out, "done")));
    train_with(victim == 0 ? 2 : 8, out, {"--resume"});
    expect_same(out, "whole", 120);
  }
}

// As a machine that vanishes: no connection is closed. Rank 0 has the store too.
TEST_F(RanksTest, ARankThatFallsSilentIsGivenUpAfterTheTimeout) {
  use(scenario_of({{"name", "ddp"}}, 100000));
  for (const int silent : {1, 0}) {
    std::vector<std::string> all = arguments("out");
    all.back() = "10";
    RankProcesses processes(2, all, folder_);
    wait_for_step_8(processes);
    processes.kill(silent, SIGSTOP);
    expect_said(processes.wait(1 - silent), 1,
                {"rank " + std::to_string(silent) + " has not answered for 10 s", "--resume"});
    processes.kill(silent, SIGCONT);
    EXPECT_EQ(processes.wait(silent).status, 1);
    fs::remove_all(folder_.file("out"));
  }
}

TEST_F(RanksTest, AnInterruptOfOneRankStopsAllAtTheSameStepWithACheckpoint) {
  use(scenario_of(kPresend, 120));
  train_with(1, "whole");
  {
    RankProcesses processes(2, arguments("out"), folder_);
    wait_for_step_8(processes);
    processes.kill(1, SIGTERM);
    for (const RankEnded& ended : processes.wait()) EXPECT_EQ(ended.status, 130) << ended.output;
  }
  const std::vector<int> steps = checkpoint_steps(file("out", "checkpoints"));
  ASSERT_FALSE(steps.empty());
  EXPECT_GE(steps[0], 8);
  EXPECT_LT(steps[0], 120);
  train_with(4, "out", {"--resume"});
  expect_same("out", "whole", 120);
}

TEST_F(RanksTest, WhatFailsOnOneRankIsToldByTheOthers) {
  use(scenario_of({{"name", "ddp"}}));
  fs::create_directories(folder_.file("out"));
  fs::create_symlink("/dev/full", folder_.file("out/metrics.csv"));
  RankProcesses processes(2, arguments("out"), folder_);
  expect_said(processes.wait(0), 1, {"metrics.csv: cannot be written"});
  expect_said(processes.wait(1), 1, {"rank 0 ended: ", "metrics.csv: cannot be written", "--resume"});
}

TEST_F(RanksTest, ALossThatIsNotFiniteEndsAllRanksWithTheSameWords) {
  Json scenario = scenario_of({{"name", "independent"}}, 200);
  scenario["train"]["optimizer"] = {{"lr", 1e30}, {"warmup", 100}};
  use(scenario);
  RankProcesses processes(2, arguments("out"), folder_);
  for (const RankEnded& ended : processes.wait())
    expect_said(ended, 1, {"step ", "of replica 0 is not finite"});
  EXPECT_FALSE(checkpoint_steps(file("out", "checkpoints")).empty());
}

TEST_F(RanksTest, ANumberOfRanksThatDoesNotDivideTheReplicasIsWrongInput) {
  use(scenario_of({{"name", "ddp"}}));
  RankProcesses processes(3, arguments("out"), folder_);
  for (const RankEnded& ended : processes.wait())
    expect_said(ended, 2, {"WORLD_SIZE: found 3, but the case has 8 replicas", "1, 2, 4, 8"});
  EXPECT_FALSE(fs::exists(folder_.file("out")));
}

TEST_F(RanksTest, RanksWithDifferentCasesAreRefused) {
  use(scenario_of({{"name", "ddp"}}));
  const std::vector<std::string> first = arguments("out");
  write_text(folder_.file("other.json"),
             only_case(scenario_of({{"name", "ddp"}}, 12), folder_).resolved.dump());
  std::vector<std::string> second = first;
  second[1] = folder_.file("other.json");
  RankProcesses processes(2, first, folder_, {{1, second}});
  for (const RankEnded& ended : processes.wait()) expect_said(ended, 2, {"rank 1 has ", "as rank 0"});
}

class RankEnvironmentTest : public RanksTest {
 protected:
  RankEnded run(const std::string& environment) {
    use(scenario_of({{"name", "ddp"}}));
    std::string command =
        environment + " " + LONGHAUL_BIN_DIR + "/longhaul-train --device cpu --rank-timeout 2";
    command +=
        " --case " + case_file_ + " --out " + folder_.file("out") + " > " + folder_.file("said") + " 2>&1";
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), read_text(folder_.file("said"))};
  }
};

TEST_F(RankEnvironmentTest, WhatIsMissingOrWrongIsNamed) {
  expect_said(run("WORLD_SIZE=2"), 2, {"RANK: is not set, but WORLD_SIZE is 2", "MASTER_PORT"});
  expect_said(run("WORLD_SIZE=2 RANK=2"), 2, {"RANK: found \"2\"", "from 0 to 1"});
  expect_said(run("WORLD_SIZE=two"), 2, {"WORLD_SIZE: found \"two\""});
  expect_said(run("WORLD_SIZE=2 RANK=0 MASTER_PORT=1"), 2, {"MASTER_ADDR: is not set"});
  expect_said(run("WORLD_SIZE=2 RANK=0 MASTER_ADDR=127.0.0.1 MASTER_PORT=70000"), 2, {"MASTER_PORT"});
  expect_said(run("WORLD_SIZE=2 RANK=0 MASTER_ADDR=127.0.0.1 MASTER_PORT=1 LOCAL_RANK=two"), 2,
              {"LOCAL_RANK: found \"two\""});
}

TEST_F(RankEnvironmentTest, RanksThatDoNotComeAreNamed) {
  const std::string port = " MASTER_ADDR=127.0.0.1 MASTER_PORT=" + std::to_string(free_port());
  expect_said(run("WORLD_SIZE=4 RANK=0" + port), 1, {"did not come within 2 s: 1, 2, 3"});
  expect_said(run("WORLD_SIZE=4 RANK=1" + port), 1, {"no connection through 127.0.0.1:", "MASTER_ADDR"});
}

// Another program has the port, and says nothing.
TEST_F(RankEnvironmentTest, APortThatIsTakenIsNamed) {
  const Socket other = listen_at(resolve("127.0.0.1", 0).front());
  const std::string port = std::to_string(port_of(other));
  expect_said(run("WORLD_SIZE=2 RANK=0 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port), 1,
              {"rank 0 cannot listen at 127.0.0.1:" + port, "MASTER_PORT", "free"});
  expect_said(run("WORLD_SIZE=2 RANK=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port), 1,
              {"rank 1: no connection through 127.0.0.1:" + port, "no answer for 2 s"});
}

TEST_F(RankEnvironmentTest, AnInterfaceThatDoesNotExistIsNamed) {
  expect_said(run("GLOO_SOCKET_IFNAME=nowhere WORLD_SIZE=2 RANK=0 MASTER_ADDR=127.0.0.1 MASTER_PORT=" +
                  std::to_string(free_port())),
              1, {"GLOO_SOCKET_IFNAME: no network interface \"nowhere\"", "lo"});
}

// As under torchrun: its own process listens at MASTER_PORT, and all ranks come to it.
TEST_F(RanksTest, TheyMeetInTheStoreOfTheProcessThatStartedThem) {
  use(scenario_of(kPresend));
  train_with(1, "whole");
  RankEnvironment keeper;
  keeper.size = 3;
  keeper.address = "127.0.0.1";
  keeper.port = free_port();
  const auto store = open_c10d_store(keeper, 60);
  const std::map<std::string, std::string> set = {{"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                                  {"TORCHELASTIC_RESTART_COUNT", "0"}};
  for (const auto& [name, value] : set) ::setenv(name.c_str(), value.c_str(), 1);
  RankProcesses ranks(2, arguments("ranks"), folder_, {}, keeper.port);
  for (const auto& [name, value] : set) ::unsetenv(name.c_str());
  for (const RankEnded& ended : ranks.wait()) EXPECT_EQ(ended.status, 0) << ended.output;
  expect_same("ranks", "whole");
}

}  // namespace
}  // namespace longhaul
