// The section network.variation: its values in SI units. What contradicts itself:
// tests/data/bad_scenarios.json.
#include <gtest/gtest.h>

#include "core/scenario/network_spec.h"
#include "core/scenario/scenario_options.h"

namespace longhaul::case_variation_test {

VariationSpec parse(const char* text, const char* fidelity = "flow") {
  const Json variation = resolve(variation_options(), Json::parse(text), "network.variation");
  return parse_variation({{"fidelity", fidelity}, {"variation", variation}}, "/some/folder");
}

TEST(Variation, IsEmptyWhereNothingIsSaid) {
  EXPECT_TRUE(parse_variation({{"fidelity", "flow"}}, ".").is_empty());
  EXPECT_TRUE(parse("{}").is_empty());
  EXPECT_TRUE(parse(R"({"jitter": {}})", "packet").is_empty());
  EXPECT_FALSE(parse(R"({"jitter": {"rate_sigma": 0.1}})", "packet").is_empty());
}

TEST(Variation, HasValuesInSIUnits) {
  const VariationSpec spec = parse(R"({
    "traces": [{"link": "a-b", "file": "t.csv"},
               {"link": "a-c", "file": "/abs.csv", "repeat": true, "direction": "forward"},
               {"link": "a-d", "file": "t.csv", "repeat": "2min", "direction": "backward"}],
    "background": [{"link": "*", "flows": 2, "on": "5s", "off": "500ms"}, {"from": "a", "to": "b", "rate": "1Mbps"},
                   {"link": "x", "share": 0.5}],
    "jitter": {"rate_sigma": 0.2, "every": "100ms"}})");
  EXPECT_EQ(spec.traces[0].file, "/some/folder/t.csv");
  EXPECT_FALSE(spec.traces[0].repeats);
  EXPECT_TRUE(spec.traces[0].directions.forward && spec.traces[0].directions.backward);
  EXPECT_EQ(spec.traces[1].file, "/abs.csv");
  EXPECT_TRUE(spec.traces[1].repeats && !spec.traces[1].period_s);
  EXPECT_FALSE(spec.traces[1].directions.backward);
  EXPECT_EQ(spec.traces[2].period_s, 120);
  EXPECT_FALSE(spec.traces[2].directions.forward);
  EXPECT_EQ(spec.background[0].flows, 2);
  EXPECT_EQ(spec.background[0].on_s, 5);
  EXPECT_EQ(spec.background[0].off_s, 0.5);
  EXPECT_EQ(spec.background[1].from, "a");
  EXPECT_EQ(spec.background[1].rate, 1e6);
  EXPECT_EQ(spec.background[2].share, 0.5);
  EXPECT_EQ(spec.jitter.rate_sigma, 0.2);
  EXPECT_EQ(spec.jitter.delay_sigma, 0);
  EXPECT_EQ(spec.jitter.every_s, 0.1);
}

}  // namespace longhaul::case_variation_test
