// The section `fit` of a scenario: what may be unknown, and on which scale it is looked for.
#include "checks/unknown.h"

#include <gtest/gtest.h>

#include <cmath>

#include "checks/validated_scenario.h"
#include "tests/support/said.h"

namespace longhaul::unknown_test {

std::vector<Unknown> read(const Json& unknown, const std::vector<std::string>& assignments = {}) {
  return unknowns_of({{"methods", {{{"name", "diloco"}, {"label", "a.b"}}}}, {"fit", {{"unknown", unknown}}}},
                     scenario_declaration(), assignments);
}

const char* const kRate = "network.topology.star.rate";

TEST(Unknown, IsLookedForOnTheScaleOfItsLogarithm) {
  const Unknown rate = read({{kRate, {{"from", "1Mbps"}, {"to", "100Mbps"}}}})[0];
  EXPECT_FALSE(rate.is_choice());
  EXPECT_NEAR(rate.value_at(0.5), 1e7, 1);
  EXPECT_NEAR(rate.place_of(1e7), 0.5, 1e-12);
  EXPECT_EQ(rate.value_at(-1), 1e6);
  EXPECT_EQ(rate.place_of(1e9), 1);
  EXPECT_EQ(rate.written(4.98e7), "49800000bps");
  EXPECT_EQ(rate.for_people(4.98e7), "49.8 Mb/s");
  EXPECT_EQ(rate.number_of("2Gbps"), 2e9);
}

TEST(Unknown, FromNothingIsLookedForOnItsOwnScale) {
  const Unknown overhead = read({{"network.operation_overhead", {{"from", "0s"}, {"to", "80ms"}}}})[0];
  EXPECT_NEAR(overhead.value_at(0.25), 0.02, 1e-15);
  EXPECT_EQ(overhead.written(0.0123456789), "0.012345679s");
  const Unknown gain = read({{"network.topology.regions.connections_gain", {{"from", 1}, {"to", 8}}}})[0];
  EXPECT_EQ(gain.written(3.5), 3.5);
}

TEST(Unknown, MayBeOneOfAFew) {
  const Unknown library = read({{"network.library", {"gloo", "nccl"}}})[0];
  EXPECT_TRUE(library.is_choice());
  EXPECT_EQ(library.choices().size(), 2u);
  const Unknown window = read({{"network.tcp.window", {"unlimited", "4MiB"}}})[0];
  EXPECT_EQ(window.choices()[1], "4MiB");
}

// The command line's come before the file's, and take their place.
TEST(Unknown, ComesFromTheCommandLineToo) {
  const std::vector<Unknown> found = read(
      {{kRate, {{"from", "1Mbps"}, {"to", "2Mbps"}}}},
      {"network.library=gloo|nccl", std::string(kRate) + "=10Mbps..1Gbps", "methods.a.b.outer_lr=0.1..1"});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_TRUE(found[0].is_choice());
  EXPECT_EQ(found[1].high(), 1e9);
  EXPECT_EQ(found[2].path(), "methods.a.b.outer_lr");
}

TEST(Unknown, SaysWhatIsWrongAndWhere) {
  const auto refused = [](const Json& unknown, const std::vector<std::string>& words) {
    const std::string said = said_by([&] { read(unknown); });
    for (const std::string& word : words) EXPECT_SAYS(said, word);
  };
  refused({{"network.topology.star.rat", {{"from", 1}, {"to", 2}}}},
          {"network.topology.star.rat", "longhaul list options"});
  refused({{kRate, {{"from", "2Mbps"}, {"to", "1Mbps"}}}}, {"from below to", kRate});
  refused({{kRate, {{"from", 2}, {"to", "1Mbps"}}}}, {"rate\".from", "found 2", "1Gbps"});
  refused({{kRate, {{"from", "1 parsec"}, {"to", "1Mbps"}}}}, {"parsec", "rate\".from"});
  refused({{kRate, 7}}, {"found 7", "from"});
  refused({{kRate, {"1Mbps"}}}, {"at least two values"});
  refused({{kRate, {"1Mbps", "1Mbps"}}}, {"each value once"});
  refused({{"network.library", {"gloo", "glou"}}}, {"glou", "[1]"});
  refused({{"network.tcp.connections", {{"from", 1}, {"to", 8}}}}, {"a list of values", "an integer"});
  refused({{"network.tcp.loss", {{"from", 0}, {"to", 7}}}}, {"loss\".to", "at most 0.5"});
  refused(Json::object(), {"--unknown"});
  EXPECT_SAYS(said_by([] { read({}, {"network.library=gloo"}); }), "PATH=FROM..TO");
}

}  // namespace longhaul::unknown_test
