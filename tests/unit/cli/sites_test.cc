// Pairs by sites: a validated scenario says in each case who is at which site, and only there.
#include <gtest/gtest.h>

#include "cli/validated_scenario.h"
#include "methods/common/registry.h"
#include "tests/support/files.h"
#include "tests/support/said.h"

namespace longhaul::sites_test {

Scenario scenario_with(const std::string& topology, const std::string& network_keys,
                       const std::string& method_keys, const std::string& method = "noloco") {
  const TemporaryFolder folder;
  write_text(folder.file("sites.json"), R"({"replicas": 6, "methods": [{"name": ")" + method +
                                            R"(", "inner_steps": 10)" + method_keys +
                                            R"(}], "workload": {"parameters": 1000, "steps": 40},
    "network": {"topology": )" + topology + network_keys +
                                            "}}");
  return validated_scenario(folder.file("sites.json"), {});
}

constexpr char kRegions[] =
    R"({"regions": {"matrix": "aws-2022", "replicas": {"oregon": 2, "virginia": 2, "london": 2}}})";

TEST(Sites, AreResolvedForPairsBySites) {
  const Case config = scenario_with(kRegions, "", R"(, "pairing": "sites")").cases[0];
  EXPECT_EQ(config.site_of, (std::vector<int>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(config.resolved["sites"], Json(config.site_of));
  EXPECT_EQ(parse_case(config.resolved).site_of, config.site_of) << "as the trainer reads it";
  EXPECT_EQ(trace_of(config).groups, trace_of(parse_case(config.resolved)).groups);
}

// In the order of the first replicas: London is where rank 0 is.
TEST(Sites, FollowTheOrderOfRanks) {
  const Case config =
      scenario_with(kRegions, R"(, "rank_order": [5, 0, 2, 1, 4, 3])", R"(, "pairing": "sites")").cases[0];
  EXPECT_EQ(config.site_of, (std::vector<int>{0, 1, 2, 1, 0, 2}));
}

TEST(Sites, AreNotWrittenWhereNothingDependsOnThem) {
  const Case config = scenario_with(kRegions, "", "").cases[0];
  EXPECT_TRUE(config.site_of.empty());
  EXPECT_FALSE(config.resolved.contains("sites"));
}

// By the key that asks for them: hierarchical has no pairing.
TEST(Sites, AreMissedWhereTheTopologyHasNone) {
  const char* star = R"({"star": {"rate": "1Gbps", "rtt": "50ms"}})";
  EXPECT_SAYS(said_by([&] { scenario_with(star, "", R"(, "pairing": "sites")"); }),
              "methods[0].pairing: found \"sites\" on a topology without sites");
  EXPECT_SAYS(said_by([&] { scenario_with(star, "", "", "hierarchical"); }),
              "methods[0].name: found \"hierarchical\" on a topology without sites");
}

}  // namespace longhaul::sites_test
