// longhaul plot draws what a run of every kind has to show, with the real matplotlib. A kind is the small
// scenario below with one thing that brings words or columns of its own into the figures.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/integration/command.h"
#include "tests/support/said.h"

namespace longhaul::plot_test {

namespace fs = std::filesystem;

constexpr char kBase[] = R"({
  "name": "base", "replicas": 4, "methods": [{"name": "ddp"}, {"name": "noloco", "inner_steps": 4}],
  "workload": {"parameters": 100000, "steps": 8, "step_time": {"constant": "1s"}},
  "network": {"topology": {"star": {"rate": "100Mbps", "rtt": "50ms"}}}})";

struct Kind {
  const char *name, *more;           // the latter merged into kBase
  std::vector<std::string> figures;  // some of those that must come out
};

const Kind kKinds[] = {
    {"NetworkOnly", "{}", {"shares", "sync-time"}},
    {"Stages",
     R"({"pipeline": {"stages": 2, "microbatches": 4},
         "workload": {"parameters": null, "tokens": 64, "model": "llama-small"}})",
     {"shares"}},
    {"Faults",
     R"({"faults": [{"kind": "crash", "replicas": "1", "at": "3s", "for": "2s"},
                    {"kind": "slow", "replicas": "2", "factor": 3, "at": "1s", "for": "2s"}]})",
     {"shares"}},
    {"Sweep", R"({"sweep": {"network.tcp.connections": [1, 4]}})", {"sweep-sync_time_s_mean-connections"}},
    {"Claims",
     R"({"claims": [{"id": "it's 3 | 4 \\ times", "statement": "NoLoCo's exchanges are `faster'",
                     "ratio": "sync_time_s.mean", "of": "ddp", "to": "noloco", "at_least": 1}],
         "sweep": {"network.tcp.connections": [1, 2, 4], "replicas": [4, 8]}})",
     {"claim-it_s_3___4___times"}},
    {"Seeds",
     R"({"seeds": [1, 2],
         "workload": {"step_time": {"constant": null, "lognormal": {"mean": "1s", "sigma": 0.3}}}})",
     {"shares", "sync-time"}},
    {"Labels",
     R"({"methods": [{"name": "ddp", "label": "it's $1 'all'"},
                     {"name": "noloco", "label": "a\nb", "inner_steps": 4}]})",
     {"shares"}},
    {"Packets", R"({"network": {"fidelity": "packet"}})", {"shares"}},
    {"DrawnMessages",
     R"({"network": {"topology": {"star": {"rtt": "0ms"}}, "message_time": {"mean": "1s", "std": "500ms"}}})",
     {"shares"}},
    {"Analytic", R"({"network": {"fidelity": "analytic"}})", {"shares"}},
};

class PlotOfKind : public testing::TestWithParam<Kind> {};

TEST_P(PlotOfKind, IsDrawn) {
  if (longhaul({"plot", "/no/such/run"}).err.find("matplotlib was not found") != std::string::npos)
    GTEST_SKIP() << "needs python3-matplotlib";
  Json scenario = Json::parse(kBase);
  scenario.merge_patch(Json::parse(GetParam().more));
  const std::string run = run_of(written(scenario));
  const CommandResult plotted = longhaul({"plot", run, "--format", "svg"});
  ASSERT_EQ(plotted.status, 0) << plotted.err;
  for (const std::string& name : GetParam().figures) {
    const std::string picture = run + "/figures/" + name + ".svg";
    ASSERT_TRUE(fs::exists(picture)) << picture << "\n" << longhaul({"plot", run, "--list"}).out;
    EXPECT_SAYS(read_text(picture), "</svg>") << picture;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, PlotOfKind, testing::ValuesIn(kKinds),
                         [](const auto& info) { return info.param.name; });

}  // namespace longhaul::plot_test
