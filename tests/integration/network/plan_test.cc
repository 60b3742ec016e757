// `longhaul plan` and signals.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/integration/command.h"

namespace longhaul::plan_test {

// Thousand nodes at one site: their ranks are ordered and their bytes counted for minutes before the first
// replay. A signal ends that, and nothing is left.
TEST(PlanCommand, EndsAtASignalWhileCandidatesAreCounted) {
  Json plan = Json::parse(read_text(scenario_file("plans/sites.json")));
  plan["sites"][0]["nodes"] = 1000;
  plan.erase("$schema");
  const std::string file = written(plan, "plan.json");
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string out = fresh_folder("plan") + "/out";
    const pid_t child = start_command("longhaul", {"plan", file, "-o", out, "--quiet"});
    ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(std::filesystem::path(out) / "work" / ".lock"); }));
    kill(child, signal);
    int status = 0;
    const bool has_ended = wait_until([&] { return waitpid(child, &status, WNOHANG) == child; });
    if (!has_ended) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
    }
    EXPECT_TRUE(has_ended);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    EXPECT_FALSE(std::filesystem::exists(out));
  }
}

// A network whose rate was fitted to within 20 %: what exchanges add to the compute is off by as much. Its
// range has the network model's error besides, the root of the sum of both squares.
TEST(PlanCommand, CarriesWhatAFitLeavesOpen) {
  const auto at_rate = [](double rate) {
    return Json{{"network.topology.star.rate", std::to_string(static_cast<long long>(rate)) + "bps"}};
  };
  Json plan = {
      {"nodes", 4},
      {"parameters", 1000000000},
      {"tokens", 400000000},
      {"tokens_per_step", 10000},
      {"step_time", "1s"},
      {"network", {{"topology", {{"star", {{"rate", "1Gbps"}, {"rtt", "1ms"}}}}}}},
      {"candidates",
       {{"methods", {"diloco"}}, {"inner_steps", {10}}, {"all_reduce", {"ring"}}, {"connections", {1}}}}};
  const auto choice_of = [](const Json& of) {
    const std::string out = fresh_folder("plan") + "/out";
    const CommandResult made = longhaul({"plan", written(of, "plan.json"), "-o", out});
    EXPECT_EQ(made.status, 0) << made.err;
    return Json::parse(read_text(out + "/plan.json"));
  };
  const Json without = choice_of(plan)["plans"][0];
  EXPECT_FALSE(without.contains("fit_half_width_s"));
  // Axes 25 % faster and 1/6 slower: times 0.8 and 1.2 of what is bytes.
  plan["fit"] = {{"axes", Json::array({Json::array({at_rate(1.25e9), at_rate(1e9 / 1.2)})})}};
  const Json all = choice_of(plan), with = all["plans"][0];
  const double time_s = with["time_s"], network_s = time_s - with["compute_s"].get<double>();
  EXPECT_EQ(time_s, without["time_s"]);
  EXPECT_NEAR(with["fit_half_width_s"].get<double>() / (0.2 * network_s), 1, 0.02);
  const double model_s = without["time_high_s"].get<double>() - time_s;
  EXPECT_NEAR(with["time_high_s"].get<double>() - time_s, std::hypot(model_s, 0.2 * network_s),
              0.02 * network_s);
  EXPECT_SAYS(all["caveats"].dump(), "What the fit of the network leaves open");
  plan["fit"] = {{"axes", {{at_rate(1e9)}}}};
  expect_refused(longhaul({"plan", written(plan, "plan.json")}), {"fit.axes", "pairs"});
}

// One version of 100 MB to four groups, one of them behind a tenth of the rate: that one decides, and what it
// takes is its bytes on the wire over its own rate, or twice that. Both seeds are one case.
TEST(PlanCommand, OfRolloutsBuysEachLinkTwiceItsOwnRate) {
  const Json scenario = Json::parse(R"({
    "name": "weights", "seeds": [1, 2], "replicas": 1, "methods": [{"name": "single"}],
    "workload": {"parameters": 1000, "steps": 2, "step_time": {"constant": "60s"}},
    "rollouts": {"groups": 4, "batch": 4, "generation": {"length": {"constant": 10}, "tokens_per_s": 5},
                 "weights": {"payload": {"bytes": "100MB"}, "store": {"concurrent": 1}}},
    "network": {"topology": {"star": {"rate": "100Mbps", "rtt": "2ms"}},
                "overrides": [{"link": "rollout3-core", "rate": "10Mbps"}]},
    "sweep": {"rollouts.weights.distribution": ["broadcast", "store"]},
    "plan": {"prefer": "refit_time_s.mean"}})");
  const std::string out = fresh_folder("plan") + "/out";
  const CommandResult made = longhaul({"plan", written(scenario, "weights.json"), "-o", out});
  ASSERT_EQ(made.status, 0) << made.err;
  const Json plan = Json::parse(read_text(out + "/plan.json"));
  EXPECT_EQ(made.err.find("does not count"), std::string::npos) << made.err;  // the store, with the choice
  EXPECT_EQ(plan["cases"], 2);
  EXPECT_EQ(plan["front"][0]["rollouts.weights.distribution"], "broadcast");
  EXPECT_EQ(Json::parse(read_text(out + "/scenario.json"))["seeds"], (Json{1, 2}));
  const double slow_s = 8 * 1e8 * 1538 / 1448 / 1e7;
  EXPECT_NEAR(plan["front"][0]["refit_time_s"]["mean"].get<double>(), slow_s, 0.5);
  std::map<std::string, double> after;
  for (const Json& link : plan["links"]) after[link["link"]] = link["refit_time_s.mean"];
  EXPECT_NEAR(after.at("rollout*-core"), slow_s / 2, 0.5);
  EXPECT_NEAR(after.at("replica*-core"), slow_s, 0.5);
}

// Once one plan of each method is replayed: what is best until then is written, and says so.
TEST(PlanCommand, WritesTheBestUntilThenAtASignal) {
  const std::string out = fresh_folder("plan") + "/out", said = fresh_folder("said") + "/err.txt";
  const pid_t child = start_command(
      "longhaul", {"plan", scenario_file("plans/abilene.json"), "-o", out, "--jobs", "1"}, said);
  const auto has_said = [&](const char* words) {
    return std::filesystem::exists(said) && read_text(said).find(words) != std::string::npos;
  };
  ASSERT_TRUE(wait_until([&] { return has_said("estimates: "); }));
  kill(child, SIGINT);
  ASSERT_EQ(wait_for(child), 130);
  const Json plan = Json::parse(read_text(out + "/plan.json"));
  EXPECT_SAYS(plan.at("decision").get<std::string>(),
              "Interrupted, so this is the best of what was replayed. Take ");
  EXPECT_SAYS(plan.at("caveats").dump(), "that may be better were not");
  EXPECT_TRUE(std::filesystem::exists(out + "/scenario.json"));
  EXPECT_TRUE(std::filesystem::exists(out + "/plan.html"));
  EXPECT_FALSE(std::filesystem::exists(out + "/work"));
  EXPECT_SAYS(read_text(said), "--output " + out + " --resume");
  expect_refused(
      longhaul({"plan", scenario_file("plans/abilene.json"), "-o", out}),
      {"exists and is not empty", "--resume continues the plan that was interrupted in this folder"});
}

// Killed once it has replays: --resume continues there, and gives what an undisturbed plan gives.
TEST(PlanCommand, ContinuesWhereItWasKilled) {
  const std::string plan = scenario_file("plans/sites.json"), out = fresh_folder("plan") + "/out";
  const pid_t child = start_command("longhaul", {"plan", plan, "-o", out, "--jobs", "1"});
  const auto lines = [&] {
    const std::string text =
        std::filesystem::exists(out + "/replays.jsonl") ? read_text(out + "/replays.jsonl") : "";
    return std::count(text.begin(), text.end(), '\n');
  };
  ASSERT_TRUE(wait_until([&] { return lines() > 20; }));
  kill(child, SIGKILL);
  ASSERT_EQ(wait_for(child), 128 + SIGKILL);
  {  // a line that a kill cut off
    std::ofstream cut(out + "/replays.jsonl", std::ios::app);
    cut << "{\"key\": \"0";
  }
  // Of another plan, though of the same name, they are not taken.
  const std::string other = fresh_folder("plan") + "/sites.json";
  Json changed = Json::parse(read_text(plan));
  changed["tokens"] = 30000000000;
  write_text(other, changed.dump());
  expect_refused(longhaul({"plan", other, "-o", out, "--resume"}),
                 {"--resume: ", "replays of another plan file", "a new --output"});

  const CommandResult resumed = longhaul({"plan", plan, "-o", out, "--resume"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_SAYS(resumed.err, "resumed with ");
  EXPECT_FALSE(std::filesystem::exists(out + "/replays.jsonl"));
  const std::string undisturbed = fresh_folder("plan") + "/out";
  EXPECT_EQ(longhaul({"plan", plan, "-o", undisturbed}).status, 0);
  for (const char* file : {"/plan.json", "/scenario.json", "/plan.html", "/launch.sh"})
    EXPECT_EQ(read_text(out + file), read_text(undisturbed + file)) << file;
  // A complete plan is not continued.
  expect_refused(longhaul({"plan", plan, "-o", out, "--resume"}), {"exists and is not empty"});
}

}  // namespace longhaul::plan_test
