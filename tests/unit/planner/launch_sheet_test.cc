// The script itself is run, by bash, with a kernel, a route and a torchrun that stand in for a node's.
#include "planner/launch_sheet.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "planner/plan_text.h"
#include "tests/support/said.h"
#include "tests/unit/planner/in_process.h"

namespace longhaul::launch_sheet_test {

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// A node whose kernel has these settings: a file a key.
class Machine : public PlanFolder {
 public:
  explicit Machine(const std::map<std::string, std::string>& settings) {
    std::filesystem::create_directories(file("bin"));
    std::filesystem::create_directories(file("kernel"));
    for (const auto& [key, value] : settings) write("kernel/" + key, value + "\n");
    // `sysctl -n KEY`, `sysctl -q -w KEY=VALUE`; what it writes is kept in `written` too.
    program("sysctl",
            "folder=$(dirname \"$0\")/../kernel\n"
            "case $1 in\n"
            "-n) [ -f \"$folder/$2\" ] || exit 255; cat \"$folder/$2\";;\n"
            "-q) echo \"${3%%=*}\" >> \"$folder/../written\"; printf '%s\\n' \"${3#*=}\" > "
            "\"$folder/${3%%=*}\";;\n"
            "esac\n");
    program("ip", "echo '1: default via 10.0.0.1 dev eth7 proto dhcp'\n");
    program("torchrun", "printf '%s\\n' \"$@\"\nenv\n");
  }

  // What it prints; it ends well.
  std::string start(const std::string& script) {
    write("launch.sh", script);
    const std::string command = "cd '" + path + "' && PATH='" + file("bin") +
                                "':$PATH bash launch.sh 3 10.0.0.9 train.py --its own > said 2> errors";
    EXPECT_EQ(std::system(command.c_str()), 0) << text_of(file("errors"));
    return text_of(file("said"));
  }

  std::string setting(const std::string& key) const {
    std::string value = text_of(file("kernel/" + key));
    return value.substr(0, value.find('\n'));
  }
  std::string written() const { return text_of(file("written")); }

 private:
  void program(const std::string& name, const std::string& text) {
    write("bin/" + name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(file("bin/" + name), std::filesystem::perms::owner_all);
  }
};

// 1 Gb/s and 200 ms: a connection has 941 Mb/s · 0.2 s = 23.5 MB under way, and buffers are twice that.
const Planned& far_star() {
  static const Planned planned(
      star({{"network", {{"topology", {{"star", {{"rate", "1Gbps"}, {"rtt", "200ms"}}}}}}},
            {"candidates", {{"methods", {{{"name", "noloco"}, {"inner_steps", 20}, {"alpha", 0.25}}}}}}}));
  return planned;
}

std::string script(const Planned& found) {
  return launch_script(found.plan, found.result.choice());
}

const double kBuffer = 2 * 1e9 / 8 * 1448 / 1538 * 0.2;

const std::map<std::string, std::string> kDefaults = {{"net.core.rmem_max", "212992"},
                                                      {"net.core.wmem_max", "212992"},
                                                      {"net.ipv4.tcp_rmem", "4096\t131072\t6291456"},
                                                      {"net.ipv4.tcp_wmem", "4096\t16384\t4194304"},
                                                      {"net.core.default_qdisc", "pfifo_fast"},
                                                      {"net.ipv4.tcp_congestion_control", "cubic"},
                                                      {"net.ipv4.tcp_slow_start_after_idle", "1"}};

TEST(LaunchSheet, RaisesTheBuffersOfANodeAsItComes) {
  Machine node(kDefaults);
  const std::string said = node.start(script(far_star()));
  EXPECT_NEAR(std::stod(node.setting("net.core.rmem_max")), kBuffer, 2);
  EXPECT_NEAR(std::stod(node.setting("net.core.wmem_max")), kBuffer, 2);
  const std::string receive = node.setting("net.ipv4.tcp_rmem"), send = node.setting("net.ipv4.tcp_wmem");
  EXPECT_EQ(receive.rfind("4096 131072 ", 0), 0u) << receive;
  EXPECT_EQ(send.rfind("4096 16384 ", 0), 0u) << send;
  EXPECT_NEAR(std::stod(receive.substr(12)), kBuffer, 2);
  EXPECT_NEAR(std::stod(send.substr(11)), kBuffer, 2);
  EXPECT_EQ(node.setting("net.core.default_qdisc"), "fq");
  EXPECT_SAYS(said, "net.core.rmem_max = " + node.setting("net.core.rmem_max") + ", was 212992");
  EXPECT_SAYS(said, "net.ipv4.tcp_rmem = " + receive + ", was 4096 131072 6291456");
}

// Each of these is more than the plan needs, or better.
TEST(LaunchSheet, LeavesATunedNodeAlone) {
  std::map<std::string, std::string> tuned = {{"net.core.rmem_max", "536870912"},
                                              {"net.core.wmem_max", "536870912"},
                                              {"net.ipv4.tcp_rmem", "8192\t262144\t536870912"},
                                              {"net.ipv4.tcp_wmem", "8192\t65536\t536870912"},
                                              {"net.core.default_qdisc", "fq_codel"},
                                              {"net.ipv4.tcp_congestion_control", "bbr"},
                                              {"net.ipv4.tcp_slow_start_after_idle", "0"}};
  Machine node(tuned);
  const std::string said = node.start(script(far_star()));
  EXPECT_EQ(node.written(), "");
  for (const auto& [key, value] : tuned) EXPECT_EQ(node.setting(key), value);
  EXPECT_SAYS(said, "net.ipv4.tcp_rmem = 8192 262144 536870912 stays");
}

// A container may not show all keys.
TEST(LaunchSheet, StartsWhereTheKernelHidesItsKeys) {
  Machine node({});
  EXPECT_SAYS(node.start(script(far_star())), "train.py");
  EXPECT_EQ(node.written(), "");
}

TEST(LaunchSheet, TellsTheTrainingItsMethod) {
  Machine node(kDefaults);
  const std::string said = node.start(script(far_star()));
  EXPECT_SAYS(said, "\nLONGHAUL_METHOD=noloco\n");
  EXPECT_SAYS(said, "\nLONGHAUL_INNER_STEPS=20\n");
  EXPECT_SAYS(said, "\nLONGHAUL_STEPS=1000\n");
  EXPECT_SAYS(said, "\nLONGHAUL_TOKENS_PER_STEP=100\n");
  EXPECT_SAYS(said, "\nLONGHAUL_WIRE=bf16\n");
  const std::string key = "\nLONGHAUL_METHOD_OPTIONS=";
  const std::size_t begin = said.find(key) + key.size();
  const Json options = Json::parse(said.substr(begin, said.find('\n', begin) - begin));
  EXPECT_EQ(options["alpha"], 0.25);
  EXPECT_EQ(options["inner_steps"], 20);
  EXPECT_SAYS(said, "\nNCCL_SOCKET_IFNAME=eth7\n");
  EXPECT_SAYS(said,
              "--nnodes=4\n--nproc-per-node=gpu\n--node-rank=3\n--master-addr=10.0.0.9\n"
              "--master-port=29500\ntrain.py\n--its\nown\n");
}

// A quote in what a method says does not end the shell's word.
TEST(LaunchSheet, QuotesWhatAMethodSays) {
  Planned found(star(Json::object()));
  found.result.search.evaluations[0].candidate.scenario["methods"][0]["label"] = "it's $HOME; `id`";
  Machine node(kDefaults);
  EXPECT_SAYS(node.start(script(found)), "\"label\":\"it's $HOME; `id`\"");
}

// Windows that stay open are a candidate: what a node has that was tuned is better here.
TEST(LaunchSheet, KeepsWindowsWhereThePlanTakesThem) {
  Json json = star({{"network", {{"fidelity", "flow"}}}});
  json["candidates"]["slow_start_after_idle"] = {true, false};
  const Planned found(json);
  EXPECT_EQ(found.result.search.candidates, 2u);
  Evaluation kept = found.result.choice();
  kept.config.network.tcp.slow_start_after_idle = false;
  Machine node(kDefaults);
  node.start(launch_script(found.plan, kept));
  EXPECT_EQ(node.setting("net.ipv4.tcp_slow_start_after_idle"), "0");
  Machine slow(kDefaults);
  slow.start(script(far_star()));
  EXPECT_EQ(slow.setting("net.ipv4.tcp_slow_start_after_idle"), "1");
}

// By hand: 724 MB among four are chunks of 181 MB in 173 segments of 1.046 MB, 5.78 ms each; two of them cost
// a round trip of 20 ms, one segment and a wake-up of 0.5 ms: 3 · 173 · 26.28 ms = 13.64 s, where whole
// chunks take 6.06 s.
TEST(Library, APlanRestsOnWhatCarriesItsExchanges) {
  const Planned planned(
      star({{"library", "gloo"}, {"candidates", {{"all_reduce", nullptr}, {"connections", nullptr}}}}));
  const Evaluation& choice = planned.result.choice();
  EXPECT_EQ(choice.config.network.library, "gloo");
  EXPECT_EQ(choice.config.network.tcp.connections, 1);
  EXPECT_EQ(choice.config.method.options.at("all_reduce"), "library");
  EXPECT_SAYS(choice.candidate.words, "gloo's choice");
  const double blocked_s = choice.total_s() - choice.compute_s;
  EXPECT_NEAR(blocked_s / (1000 / 20), 13.64, 0.05);
  std::string rests;
  for (const std::string& caveat : caveats(planned.plan, planned.result)) rests += caveat + "\n";
  EXPECT_SAYS(rests, "Exchanges are carried as gloo carries them");
  const std::string script = launch_script(planned.plan, choice);
  EXPECT_SAYS(script, "export LONGHAUL_BACKEND=gloo");
  EXPECT_EQ(script.find("NCCL_NSOCKS"), std::string::npos);
  EXPECT_SAYS(said_by([] { plan_of_json(star({{"library", "glou"}})); }), "library: found \"glou\"");
}

// 400 tokens of a step, of which nodes that take 0.5 s have 134 and those of 1 s 66.
TEST(LaunchSheet, GivesEachRankItsTokens) {
  Json json = star();
  json.merge_patch(Json::parse(R"({"network": null, "nodes": null, "tokens": 400000,
    "sites": [{"name": "a", "nodes": 2, "rate": "1Gbps"}, {"name": "b", "nodes": 2, "rate": "1Gbps", "step_time": "1s"}],
    "paths": [{"between": ["a", "b"], "rtt": "20ms"}], "candidates": {"rank_orders": ["blocks"], "batches": ["by-speed"]}})"));
  const auto& [folder, plan, result] = Planned(json);
  Machine machine({});
  EXPECT_SAYS(machine.start(launch_script(plan, result.choice())), "LONGHAUL_TOKENS_PER_STEP=66\n");
}

}  // namespace longhaul::launch_sheet_test
