// What was not measured, or is known to be wrong, is said wherever its times are: by check, at the end of a
// run, in a comparison and in the report, and claims on it stay undecided, however clear they look.
#include <gtest/gtest.h>

#include "tests/integration/command.h"
#include "tests/support/said.h"

namespace longhaul::outside_test {

// Which classes there are: tests/unit/analysis/residual_test.cc.
struct Class {
  std::string name;
  Json tcp;
  std::string said;  // what is outside; "": its error is known
  std::string fidelity = "flow";
};

// NoLoCo's synchronization takes more than a thousandth of DiLoCo's.
Json scenario_of(const Class& tested) {
  Json scenario = Json::parse(R"({
    "replicas": 2, "methods": [{"name": "diloco", "inner_steps": 1}, {"name": "noloco", "inner_steps": 1}],
    "workload": {"parameters": 40000, "wire": "bf16", "steps": 2, "step_time": {"constant": "1s"}},
    "network": {"topology": {"star": {"rate": "100Mbps", "rtt": "50ms"}}},
    "claims": [{"id": "some", "statement": "some time is taken", "ratio": "sync_time_s.mean", "of": "diloco",
                "to": "noloco", "at_least": 0.001}]})");
  scenario["network"]["fidelity"] = tested.fidelity;
  scenario["network"]["tcp"] = tested.tcp;
  return scenario;
}

class Outside : public testing::TestWithParam<Class> {};

TEST_P(Outside, IsSaidWhereverItsTimesAre) {
  const Class& tested = GetParam();
  const std::string file = written(scenario_of(tested)), run = fresh_folder("run");
  const CommandResult checked = longhaul({"check", file}), ran = longhaul({"run", file, "--out", run});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const CommandResult compared = longhaul({"compare", run, "--metric", "sync_time_s.mean"});
  ASSERT_EQ(compared.status, 0) << compared.err;
  const std::string what = "outside of what the network model was measured for";
  for (const std::string& text : {checked.out, ran.out, compared.out, read_text(run + "/report.html")}) {
    EXPECT_EQ(text.find(what) != std::string::npos, !tested.said.empty()) << text.substr(0, 2000);
    EXPECT_SAYS(text, tested.said);
  }
  EXPECT_SAYS(longhaul({"claims", run}).out, tested.said.empty() ? "holds" : "undecided");
}

INSTANTIATE_TEST_SUITE_P(Classes, Outside,
                         testing::Values(Class{"Host", {{"connections", 8}}, ""},
                                         Class{"MoreLoss", {{"loss", 6e-3}}, "a loss of 0.006 (to 0.005)"},
                                         Class{"PacketsOfBbr",
                                               {{"congestion_control", "bbr"}},
                                               "queue host+bbr in packets",
                                               "packet"}),
                         [](const auto& info) { return info.param.name; });

}  // namespace longhaul::outside_test
