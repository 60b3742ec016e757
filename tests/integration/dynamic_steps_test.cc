// Slow replicas that take fewer inner steps, from end to end: what the replay and the training count is the
// same, with crashes too, and the bytes are those of an undisturbed run after kills.
#include <gtest/gtest.h>

#include <random>

#include "tests/integration/kills.h"
#include "tests/integration/recorded_runs.h"

namespace longhaul::dynamic_steps_test {

class DynamicSteps : public RecordedRuns {
 protected:
  DynamicSteps() : RecordedRuns("dynamic_steps") {}

  // 24 steps of 100 ms in rounds of 8, of 2 sequences of 32 tokens; replica 3 is `factor` times slower.
  static Json scenario(double factor, const Json& more = {{"dynamic_steps", true}}) {
    Json json = small_scenario();
    Json method = {{"name", "delayed-nesterov"}, {"label", "dn"}, {"inner_steps", 8}, {"momentum_every", 2}};
    method.update(more);
    json["methods"] = Json::array({method});
    json["train"]["steps"] = 24;
    json["train"]["checkpoint_every"] = 3;
    json["workload"] = {{"step_time", {{"constant", "100ms"}}}, {"step_time_factors", {{"3", factor}}}};
    return json;
  }
};

// Replica 3 takes 2 of 8 steps: 3 · 24 + 6 of all. A round computes for 0.8 s, or 3.2 s where it takes all,
// and its ring of four takes six messages of 10 ms.
TEST_F(DynamicSteps, ReplayAndTrainingCountTheSame) {
  const auto on_a_mesh = [](Json json) {
    json["network"] = {{"fidelity", "analytic"},
                       {"barrier", true},
                       {"message_time", {{"mean", "10ms"}, {"std", "0s"}}},
                       {"topology", {{"mesh", {{"rate", "1Gbps"}, {"rtt", "50ms"}}}}}};
    return json;
  };
  const std::string out = run_scenario("quarter", on_a_mesh(scenario(4)));
  const Json entry = record(out, "dn");
  EXPECT_EQ(entry["useful_steps"], 78);
  EXPECT_EQ(entry["tokens"], 78 * 64);
  EXPECT_NEAR(entry["compute_time_s"], 2.4, 1e-9);
  const double simulated_s = 3 * (0.8 + 0.06);
  EXPECT_NEAR(entry["simulated_time_s"], simulated_s, 1e-6);
  EXPECT_NEAR(entry["goodput_tokens_per_s"], 78 * 64 / simulated_s, 1e-2);
  EXPECT_NEAR(entry["bytes_per_token"], entry["bytes_sent_per_replica"].get<double>() / (78 / 4. * 64), 1e-9);
  const Json plain = record(run_scenario("all", on_a_mesh(scenario(4, Json::object()))), "dn");
  EXPECT_NEAR(plain["simulated_time_s"], 3 * (3.2 + 0.06), 1e-6);
  EXPECT_EQ(plain["tokens"], 4 * 24 * 64);
  EXPECT_FALSE(plain.contains("useful_steps"));
}

// Replicas go about once a second each, and 4.3 s are simulated.
TEST_F(DynamicSteps, KilledRunsEndWithTheSameBytes) {
  for (const bool crashes : {false, true}) {
    Json json = scenario(3);
    json["train"]["steps"] = 60;
    if (crashes) {
      json["faults"] = {{{"kind", "crash"}, {"replicas", "0-3"}, {"every", "1.5s"}, {"for", "300ms"}}};
      json["recovery"] = {{"detect", "100ms"}, {"state_bytes", 4}};
    }
    const std::string name = crashes ? "crashes" : "plain", whole = run_scenario(name, json);
    const Json entry = record(whole, "dn");
    EXPECT_LT(entry["useful_steps"], 4 * 60);
    if (crashes) {
      EXPECT_GT(entry["crashes"], 3) << "that is what it is about";
    }
    const std::string file = folder_ + "/" + name + ".json", killed = folder_ + "/killed " + name;
    std::mt19937 random(5);
    const CommandResult resumed =
        run_through_kills({"run", file, "--out", killed, "--quiet"}, {150, 900}, random);
    ASSERT_EQ(resumed.status, 0) << resumed.err;
    expect_same_run(killed, whole);
  }
}

}  // namespace longhaul::dynamic_steps_test
