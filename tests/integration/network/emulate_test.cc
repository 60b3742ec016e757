// longhaul emulate as a user runs it: what it refuses, its script, commands on the hosts, and rings over the
// kernel's TCP beside `flow`. What needs namespaces and TUN devices is skipped where the machine allows none.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "tests/integration/command.h"
#include "tests/support/said.h"

namespace longhaul::emulate_test {

namespace fs = std::filesystem;

// Four members, chunks of 600 kB, one of them 1.3 s late: each connection idles for longer than its time-out.
// At 100 ms whole chunks take the kernel 2.3 to 2.4 s; at 200 ms 3.2 to 4.0, too much to compare with.
Json ring_of_four() {
  return Json::parse(R"({
    "replicas": 4,
    "methods": [{"name": "diloco", "inner_steps": 1, "all_reduce": "ring"}],
    "workload": {"parameters": 600000, "wire": "fp32", "steps": 2, "step_time": {"constant": "1s"},
                 "step_time_factors": {"2": 2.3}},
    "network": {"topology": {"star": {"rate": "50Mbps", "rtt": "100ms"}}}})");
}

CommandResult emulate(const Json& scenario, const std::vector<std::string>& arguments = {}) {
  return longhaul({"emulate", written(scenario)}, arguments);
}

// What else is refused: tests/unit/emulation/world_test.cc.
TEST(Emulate, TheScriptIsOfOneCaseThatAWorldHas) {
  const CommandResult one = emulate(ring_of_four(), {"--script"});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(one.out.rfind("#!/bin/sh\n", 0), 0u);
  EXPECT_SAYS(one.out, "\n3 10.9.0.4 50000000 3125 cubic'");
  Json two = ring_of_four(), marks = ring_of_four();
  two["sweep"] = {{"network.topology.star.rtt", {"10ms", "20ms"}}};
  expect_refused(emulate(two, {"--script"}), {"2 cases"});
  marks["network"]["tcp"] = {{"queue", "fq_codel"}};
  expect_refused(emulate(marks), {"cannot be emulated", "scenario.json"});
}

class Worlds : public testing::Test {
 protected:
  void SetUp() override {
    const CommandResult result = emulate(ring_of_four(), {"--", "true"});
    if (result.status != 0) GTEST_SKIP() << "no world can be made here: " << result.err;
  }
};

// Rank 0 listens; a handshake of the others takes a round trip of the scenario at least.
TEST_F(Worlds, ACommandRunsOnEachHostAndReachesTheFirstOverTheNetwork) {
  const std::string folder = fresh_folder("ranks"), file = folder + "/meet.py";
  write_text(file, R"(
import json, os, socket, sys, time
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
first = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
names = {"NODE_RANK": "RANK", "NNODES": "WORLD_SIZE", "MASTER_ADDR": "MASTER_ADDR", "MASTER_PORT": "MASTER_PORT"}
assert all(os.environ["PET_" + name] == os.environ[same] for name, same in names.items())  # as torchrun reads them
assert json.load(open(os.environ["LONGHAUL_CASE"]))["replicas"] == size
if rank == 0:
    listener = socket.create_server(first)
    for _ in range(size - 1):
        listener.accept()
while rank > 0:
    begin = time.monotonic()
    try:
        used = socket.create_connection(first).getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
        assert used.rstrip(b"\0") == b"cubic", used  # whatever this machine gives namespaces
        break
    except ConnectionRefusedError:
        pass
if rank > 0 and time.monotonic() - begin < 0.1:
    sys.exit("too fast")
open(f"{sys.argv[1]}/{rank}", "w").close()
)");
  const CommandResult result = emulate(ring_of_four(), {"--", "python3", file, folder});
  EXPECT_EQ(result.status, 0) << result.err;
  for (const char* rank : {"0", "1", "2", "3"}) EXPECT_TRUE(fs::exists(folder + "/" + rank)) << rank;
  EXPECT_EQ(emulate(ring_of_four(), {"--", "sh", "-c", "exit $RANK"}).status, 1);
}

// What is written to the end of a file must not be written over.
TEST_F(Worlds, OneFileTakesBothStreamsOfTheCommands) {
  const std::string file = fresh_folder("streams") + "/log";
  const CommandResult ended = shell("$B/longhaul emulate " + written(ring_of_four()) +
                                    " -- sh -c 'echo [err] >&2; sleep 0.2; echo [out]' > " + file + " 2>&1");
  ASSERT_EQ(ended.status, 0);
  const std::string text = read_text(file);
  for (const std::string word : {"err", "out"})
    EXPECT_EQ(shell("grep -c '\\[" + word + "\\]$' " + file).out, "4\n") << text;
  EXPECT_SAYS(text, "\ndone: ");
}

struct Times {
  double measured_s = 0, predicted_s = 0;
};

Times times_of(const Json& scenario, const std::string& metric = "sync_time_s") {
  const std::string folder = fresh_folder("worlds");
  const CommandResult result = emulate(scenario, {"--out", folder});
  EXPECT_EQ(result.status, 0) << result.err;
  const auto mean_s = [&](const char* run) {
    return summary_of(folder + "/" + run)["cases"][0][metric]["mean"].get<double>();
  };
  if (!fs::exists(folder + "/predicted")) {
    EXPECT_SAYS(result.err, "no prediction: ");
    return {mean_s("measured"), 0};
  }
  EXPECT_SAYS(result.out, metric == "sync_time_s" ? "sync, measured" : "refit, measured");
  const Times times{mean_s("measured"), mean_s("predicted")};
  std::printf("kernel %.3f s, flow %.3f s\n", times.measured_s, times.predicted_s);
  return times;
}

// The bounds of 20 % are for a busy machine.
TEST_F(Worlds, ALateMemberSlowsWholeChunksAsFlowSays) {
  const Times whole = times_of(ring_of_four());
  EXPECT_NEAR(whole.predicted_s / whole.measured_s, 1, 0.2);
  Json sliced = ring_of_four(), warm = ring_of_four();
  sliced["network"]["slice"] = "16KiB";
  warm["network"]["tcp"] = {{"slow_start_after_idle", false}};
  for (const Json& scenario : {sliced, warm}) {
    const Times times = times_of(scenario);
    EXPECT_LT(times.measured_s, 0.8 * whole.measured_s);
    EXPECT_NEAR(times.predicted_s / times.measured_s, 1, 0.2);
  }
}

// The one that is late is left behind by `grace` or not, as times have it; all-reduces wait for all.
TEST_F(Worlds, WhereTimesDecideWhoMeetsTheFiguresSaySo) {
  Json scenario = ring_of_four();
  scenario["replicas"] = 3;
  scenario["workload"].merge_patch({{"parameters", 20000}, {"step_time", {{"constant", "200ms"}}}});
  scenario["methods"].push_back({{"name", "gossip"}, {"inner_steps", 1}, {"grace", "100ms"}});
  const CommandResult result = emulate(scenario);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_SAYS(result.out,
              "\ngossip: times decide who takes part: 2 exchanges measured, 2 predicted, maybe of others\n");
  EXPECT_EQ(result.out.find("diloco: times decide"), std::string::npos) << result.out;
}

// From the release of a version of the weights until the last group has it: 1 MB, of which hosts send two
// copies down a tree, and a store three, at 20 Mb/s. The bounds are for a busy machine: figures are in
// results/reference/rollouts.
TEST_F(Worlds, WeightsComeToRolloutsOverTheKernelAndByAProgram) {
  Json scenario = Json::parse(R"({
    "replicas": 1, "methods": [{"name": "independent"}],
    "workload": {"parameters": 1000, "steps": 3, "step_time": {"constant": "100ms"}},
    "rollouts": {"groups": 3, "batch": 3, "generation": {"length": {"constant": 10}, "tokens_per_s": 20},
                 "weights": {"payload": {"bytes": "1MB"}, "piece": "100kB"}},
    "network": {"topology": {"star": {"rate": "20Mbps", "rtt": "20ms"}}}})");
  for (const char* distribution : {"relay-tree", "store"}) {
    scenario["rollouts"]["weights"]["distribution"] = distribution;
    const Times times = times_of(scenario, "refit_time_s");
    EXPECT_NEAR(times.predicted_s / times.measured_s, 1, 0.2);
    const std::string folder = fresh_folder("weights");
    const CommandResult program =
        emulate(scenario, {"--", "python3", LONGHAUL_SOURCE_DIR "/docs/examples/weights_over_http.py",
                           "--out", folder, "--versions", "2", "--pause", "0.6"});
    ASSERT_EQ(program.status, 0) << program.err;
    const std::string said = "refit time, mean: ";
    const std::size_t at = program.out.find(said);
    ASSERT_NE(at, std::string::npos) << program.out;
    EXPECT_NEAR(times.predicted_s / std::stod(program.out.substr(at + said.size())), 1, 0.3);
    EXPECT_EQ(shell("wc -l < " + folder + "/refits.csv").out, "7\n")
        << "a heading, and two versions of three groups";
  }
}

// 600 segments each way at a loss of 2e-2 a path: CUBIC, never below Reno, has sqrt(3 / 2p) = 8.7 segments a
// round trip then, 2.5 Mb/s, and BBR nine tenths of 25. What is lost at a message's end decides about single
// times: bounds of 30 %.
TEST_F(Worlds, LinksLosePacketsWhichCubicMindsAndBbrDoesNot) {
  Json scenario = Json::parse(R"({
    "replicas": 2, "methods": [{"name": "noloco", "inner_steps": 1}],
    "workload": {"parameters": 217200, "wire": "bf16", "steps": 3, "step_time": {"constant": "300ms"}},
    "network": {"topology": {"star": {"rate": "25Mbps", "rtt": "40ms"}}}})");
  const auto with = [&](const std::string& control, double loss) {
    scenario["network"]["tcp"] = {{"congestion_control", control}, {"loss", loss}};
    return times_of(scenario);
  };
  const Times cubic = with("cubic", 0.01), bbr = with("bbr", 0.01), few_lost = with("bbr", 1e-3),
              unlost = with("bbr", 0);
  EXPECT_GT(cubic.measured_s, 2 * unlost.measured_s);
  EXPECT_LT(bbr.measured_s, 0.75 * cubic.measured_s);
  EXPECT_EQ(cubic.predicted_s, 0) << "a path loses more than was measured";
  EXPECT_NEAR(unlost.predicted_s / unlost.measured_s, 1, 0.2);
  EXPECT_NEAR(few_lost.predicted_s / few_lost.measured_s, 1, 0.3);
}

int processes_naming(const std::string& word) {
  int found = 0;  // texts are empty where a process has ended meanwhile
  for (const auto& entry : fs::directory_iterator("/proc"))
    found += read_text(entry.path() / "cmdline").find(word) != std::string::npos;
  return found;
}

// Interrupted and killed: no process stays.
TEST_F(Worlds, NothingStaysBehind) {
  for (const int signal : {SIGINT, SIGKILL}) {
    const std::string folder = fresh_folder("killed");
    Json long_one = ring_of_four();
    long_one["workload"]["steps"] = 1000;
    const pid_t command = start_command("longhaul", {"emulate", written(long_one), "--out", folder});
    // The script's, the replay's, four hosts'.
    EXPECT_TRUE(wait_until([&] { return processes_naming(folder + "/measured/cases") >= 6; }));
    kill(command, signal);
    EXPECT_EQ(wait_for(command), signal == SIGINT ? 130 : 128 + SIGKILL);
    EXPECT_TRUE(wait_until([&] { return processes_naming(folder) == 0; })) << signal;
  }
}

int folders_left(const std::string& temporary) {
  int found = 0;
  for (const auto& entry : fs::directory_iterator(temporary))
    found += entry.path().filename().string().rfind("longhaul-", 0) == 0;
  return found;
}

// With a command of the user's and without: interrupted and killed, the temporary folder goes too.
TEST_F(Worlds, NoFolderStaysBehind) {
  const std::string temporary = fresh_folder("temporary"), begun = temporary + "/begun";
  Json long_one = ring_of_four();
  long_one["workload"]["steps"] = 1000;
  const std::string scenario = written(long_one);
  for (const int signal : {SIGINT, SIGTERM, SIGKILL})
    for (const bool has_command : {false, true}) {
      std::vector<std::string> arguments = {"emulate", scenario};
      if (has_command)
        arguments.insert(arguments.end(), {"--", "sh", "-c", "touch " + begun + "; sleep 100"});
      setenv("TMPDIR", temporary.c_str(), 1);
      const pid_t command = start_command("longhaul", arguments);
      unsetenv("TMPDIR");
      EXPECT_TRUE(wait_until([&] {
        return has_command ? fs::exists(begun) : processes_naming(temporary + "/longhaul-emulate") >= 6;
      }));
      EXPECT_EQ(folders_left(temporary), 1);
      kill(command, signal);
      EXPECT_EQ(wait_for(command), signal == SIGKILL ? 128 + SIGKILL : 130) << has_command;
      EXPECT_TRUE(wait_until([&] { return folders_left(temporary) == 0; })) << signal << has_command;
      EXPECT_TRUE(wait_until([&] { return processes_naming(temporary) == 0; })) << signal << has_command;
      fs::remove(begun);
    }
}

// Four hosts of 5 Gb/s are more than any machine's one relay carries: packets wait in it, or are dropped.
TEST_F(Worlds, WhatTheMachineDoesNotCarryIsSaidBeforeAndBesideTheFigures) {
  Json scenario = ring_of_four();
  scenario["workload"] = {
      {"parameters", 20000000}, {"wire", "fp32"}, {"steps", 1}, {"step_time", {{"constant", "100ms"}}}};
  scenario["network"]["topology"]["star"] = {{"rate", "5Gbps"}, {"rtt", "20ms"}};
  const CommandResult result = emulate(scenario);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_SAYS(result.err, "warning: the hosts may send 20 Gb/s at once");
  EXPECT_SAYS(result.out, "this machine did not carry the rates: of ");
}

}  // namespace longhaul::emulate_test
