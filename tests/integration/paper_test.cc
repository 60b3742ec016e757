// The scenarios that carry independent checks as claims: every claim holds, and where a claim has to leave
// room for the residual of the network model, the measured value is nearer than that.
#include <gtest/gtest.h>

#include "tests/integration/command.h"

namespace longhaul::paper_test {

Json claims_of(const std::string& scenario) {
  return summary_of(run_of(scenario_file("paper/" + scenario + ".json")))["claims"];
}

TEST(Paper, EveryCollectiveTakesWhatItsClosedFormSays) {
  const Json claims = claims_of("collectives");
  EXPECT_EQ(claims.size(), 26u);
  for (const Json& claim : claims) {
    EXPECT_EQ(claim["verdict"], "holds") << claim.dump();
    const double ratio = claim["measured"].get<double>() / claim["threshold"].get<double>();
    const bool is_bound = claim["bound"].get<std::string>().rfind("at most", 0) == 0 ||
                          claim["statement"].get<std::string>().find("a bound") != std::string::npos;
    if (is_bound)
      EXPECT_LE(ratio, 1.004) << claim["id"];
    else
      EXPECT_NEAR(ratio, 1, 0.004) << claim["id"];
  }
}

TEST(Paper, StreamingDilocosTableOfLinkRatesIsMet) {
  const Json claims = claims_of("streaming-diloco-bandwidth");
  EXPECT_EQ(claims.size(), 50u);
  for (const Json& claim : claims) EXPECT_EQ(claim["verdict"], "holds") << claim.dump();
}

// At least and at most a tenth off the published hours, as the claims have it; the replay is within 5 %.
TEST(Paper, HoursOfEagerUpdatesAreMetTo5Percent) {
  const Json claims = claims_of("eager-updates-hours");
  EXPECT_EQ(claims.size(), 18u);
  for (const Json& claim : claims) {
    EXPECT_EQ(claim["verdict"], "holds") << claim.dump();
    const bool is_least = claim["bound"].get<std::string>().rfind("at least", 0) == 0;
    const double published = claim["threshold"].get<double>() / (is_least ? 0.9 : 1.1);
    EXPECT_NEAR(claim["measured"].get<double>(), published, 0.05 * published) << claim["id"];
  }
}

}  // namespace longhaul::paper_test
