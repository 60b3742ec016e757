// Which fidelity `check` names beside the one that is written, why, and what it says that costs.
#include "checks/fidelity_advice.h"

#include <gtest/gtest.h>

#include "checks/validated_scenario.h"
#include "tests/support/files.h"
#include "tests/support/said.h"

namespace longhaul::fidelity_advice_test {

// A ring of four, each 11.584 MB: 6 rounds of 2.896 MB are 2000 segments, 48,000 from all in one outer step.
Json scenario_with(const Json& network, int outer_steps = 1) {
  Json scenario = {
      {"name", "advised"},
      {"replicas", 4},
      {"methods", {{{"name", "diloco"}, {"inner_steps", 10}}}},
      {"workload",
       {{"parameters", 5792000}, {"steps", 10 * outer_steps}, {"step_time", {{"constant", "1s"}}}}},
      {"network", {{"topology", {{"star", {{"rate", "100Mbps"}, {"rtt", "50ms"}}}}}}}};
  scenario["network"].merge_patch(network);
  return scenario;
}

std::vector<std::string> advice_of(const Json& scenario) {
  const TemporaryFolder folder;
  write_text(folder.file("scenario.json"), scenario.dump());
  return fidelity_advice(validated_scenario(folder.file("scenario.json"), {}));
}

void expect_advice(const Json& network, const std::string& said) {
  const std::vector<std::string> advice = advice_of(scenario_with(network));
  ASSERT_EQ(advice.size(), said.empty() ? 0u : 1u) << network << ": " << join(advice);
  if (!said.empty()) {
    EXPECT_EQ(advice[0], said);
  }
}

const std::string kCost = "; about 48 k segments, 24.3 ms on one core";

TEST(FidelityAdvice, FlowIsLeftAloneWhereItWasMeasured) {
  expect_advice(Json::object(), "");
  expect_advice({{"tcp", {{"queue", "fq_codel"}, {"ecn", true}}}}, "");
  expect_advice({{"tcp", {{"loss", 1e-4}}}}, "");
  expect_advice({{"tcp", {{"congestion_control", "bbr"}}}}, "");
  expect_advice({{"fidelity", "analytic"}}, "");
  expect_advice({{"fidelity", "packet"}}, "");
}

// What class of queue, loss and congestion control each fidelity was held against.
TEST(FidelityAdvice, NamesLinuxWithBothErrorsAndItsCost) {
  expect_advice(
      {{"fidelity", "packet"}, {"tcp", {{"queue", "fifo"}}}},
      "network.fidelity \"linux\": packet was measured to 50 % with fifo; linux was measured, to 25 %" +
          kCost);
  expect_advice({{"fidelity", "packet"}, {"tcp", {{"queue", "fifo"}, {"connections", 4}}}},
                "network.fidelity \"linux\": packet was not measured with several connections behind a FIFO; "
                "linux was measured, to 25 %" +
                    kCost);
  expect_advice(
      {{"fidelity", "analytic"}, {"tcp", {{"queue", "fifo"}}}},
      "network.fidelity \"linux\": fifo does not count in fidelity analytic; linux was measured, to 25 %" +
          kCost);
  expect_advice(
      {{"tcp", {{"queue", "fq_codel"}}}},
      "network.fidelity \"linux\": flow was not measured with fq_codel; linux sends every packet there, "
      "with an error that is not known" +
          kCost);
  expect_advice(
      {{"fidelity", "packet"}, {"tcp", {{"loss", 1e-4}, {"loss_response", "ns3-3.37"}}}},
      "network.fidelity \"linux\" and network.tcp.loss_response \"linux\": packet was measured to 55 % with "
      "host+loss; linux was measured, to 25 %" +
          kCost);
  expect_advice({{"topology", {{"star", nullptr}, {"mesh", {{"rate", "100Mbps"}, {"rtt", "50ms"}}}}},
                 {"tcp", {{"congestion_control", "bbr"}}}},
                "network.fidelity \"linux\": flow was not measured for BBR but in rings and pairs of up to 8 "
                "on a star; "
                "linux was measured, to 7 %" +
                    kCost);
}

// 10 s of silence are many time-outs. 100 Mb/s hold 2.35 MB for 200 ms: a message of 2.9 MB is of the
// window that is left, one of 29 MB is not.
TEST(FidelityAdvice, LongRoundTripsAfterASilence) {
  const Json far = {{"topology", {{"star", {{"rtt", "200ms"}}}}}};
  expect_advice(
      far,
      "network.fidelity \"linux\": after a silence flow is 4 to 35 % off at a round trip of 200 ms; linux to "
      "3.5 %" +
          kCost);
  Json large = scenario_with(far);
  large["workload"]["parameters"] = 57920000;
  EXPECT_TRUE(advice_of(large).empty());
  Json keeps = far;
  keeps["tcp"]["slow_start_after_idle"] = false;
  expect_advice(keeps, "");
  Json often = scenario_with(far);
  often["workload"]["step_time"] = {{"constant", "10ms"}};
  EXPECT_TRUE(advice_of(often).empty());
}

// After an outage flow ends where linux does; where delays change it does not.
TEST(FidelityAdvice, LinksThatChange) {
  Json scenario = scenario_with(Json::object());
  Json& fault = (scenario["faults"] = {{{"kind", "link"}, {"link", "*"}, {"at", "11s"}, {"for", "1s"}}})[0];
  fault["rate"] = 0;
  EXPECT_TRUE(advice_of(scenario).empty());
  fault.erase("rate");
  fault["delay"] = 2;
  const std::vector<std::string> advice = advice_of(scenario);
  ASSERT_EQ(advice.size(), 1u) << join(advice);
  EXPECT_SAYS(advice[0],
              "network.fidelity \"linux\": flow was measured to 17 % with delays that change; linux was "
              "measured, to 7 %");
}

// Cases of one reason cost what they cost together: rings of 4 and 8, which send 48,000 and 112,000 segments.
TEST(FidelityAdvice, CasesOfOneReasonAreOneLine) {
  Json scenario = scenario_with({{"fidelity", "packet"}, {"tcp", {{"queue", "fifo"}}}});
  scenario["sweep"] = {{"replicas", {4, 8}}};
  const std::vector<std::string> advice = advice_of(scenario);
  ASSERT_EQ(advice.size(), 1u) << join(advice);
  EXPECT_SAYS(advice[0], "; about 160 k segments, 81.5 ms on one core for 2 cases");
}

// 5000 outer steps of 48,000 segments are 120 s in linux; behind FIFOs nothing else was measured.
TEST(FidelityAdvice, FlowIsNamedWhereItWasMeasuredAndLinuxTakesLong) {
  const std::vector<std::string> advice = advice_of(scenario_with({{"fidelity", "linux"}}, 5000));
  ASSERT_EQ(advice.size(), 1u) << join(advice);
  EXPECT_SAYS(advice[0], "network.fidelity \"flow\" was measured here, to 7 %, and takes about ");
  EXPECT_SAYS(advice[0], " instead of 2 min");
  EXPECT_TRUE(advice_of(scenario_with({{"fidelity", "linux"}})).empty());
  EXPECT_TRUE(advice_of(scenario_with({{"fidelity", "linux"}, {"tcp", {{"queue", "fifo"}}}}, 5000)).empty());
}

// What a fidelity refuses is refused with `linux` among what is allowed.
TEST(FidelityAdvice, RefusalsNameLinux) {
  for (const Json& network : std::vector<Json>{
           {{"tcp", {{"queue", "fifo"}}}},
           {{"tcp", {{"trunk_queue", "fifo"}}}},
           {{"tcp", {{"qdisc", "fq"}}}},
           {{"tcp", {{"congestion_control", "bbr"}, {"queue", "fq_codel"}}}},
           {{"fidelity", "packet"}, {"tcp", {{"loss", 1e-4}}}},
           {{"fidelity", "packet"}, {"tcp", {{"loss", 1e-4}, {"congestion_control", "bbr"}}}},
           {{"fidelity", "packet"}, {"tcp", {{"queue", "fifo"}, {"congestion_control", "bbr"}}}}}) {
    const std::string said = said_by([&] { advice_of(scenario_with(network)); });
    EXPECT_SAYS(said, "fidelity \"linux\"") << network;
  }
  // Paths beyond what flow was measured with, and linux was.
  EXPECT_SAYS(said_by([&] { advice_of(scenario_with({{"tcp", {{"loss", 0.02}}}})); }), "fidelity \"linux\"");
}

}  // namespace longhaul::fidelity_advice_test
