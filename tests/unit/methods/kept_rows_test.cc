#include <gtest/gtest.h>

#include "methods/common/registry.h"
#include "tests/support/traces.h"

namespace longhaul::kept_rows_test {

using Names = std::vector<std::string>;

// What the papers' algorithms keep between two exchanges.
TEST(KeptRows, AreThoseOfEachAlgorithm) {
  const auto kept = [](const char* name, const Json& options = Json::object()) {
    return rows_kept_by({name, name, options});
  };
  EXPECT_EQ(kept("ddp"), Names());
  EXPECT_EQ(kept("local-sgd"), Names());
  for (const char* name :
       {"diloco", "muloco", "noloco", "eager-diloco", "streaming-diloco", "dilocox", "co2"})
    EXPECT_EQ(kept(name), (Names{"slow_weights", "outer_momentum"})) << name;
  for (const char* name : {"sparseloco", "ist", "decoupled-diloco"})
    EXPECT_EQ(kept(name), (Names{"slow_weights"})) << name << ": no momentum of its own";
  EXPECT_EQ(kept("dgc"), (Names{"velocity"}));
  EXPECT_EQ(kept("gasloc"), (Names{"slow_weights", "proposal"})) << "u of the round before";
  EXPECT_EQ(kept("delayed-nesterov"), (Names{"slow_weights", "outer_momentum", "outer_buffer"}));
  for (const Json& late : {Json{{"delay", 2}}, Json{{"delay", "stages"}, {"stages", 3}}})
    EXPECT_EQ(kept("ravnest", late), (Names{"late_gradient_0", "late_gradient_1"})) << late;
}

TEST(KeptRows, HaveWhatCodecsFeedBackBehindThem) {
  OperationPlan plan{{rule_of("outer", "ring", 1)}};
  plan.keeps = {"slow_weights"};
  EXPECT_EQ(kept_rows(plan), (Names{"slow_weights"}));
  plan.rules[0].payload[0].codec.feedback = Feedback::kClassic;
  EXPECT_EQ(kept_rows(plan), (Names{"slow_weights", "error"}));
  plan.rules[0].payload[0].codec.feedback = Feedback::kEf21;
  EXPECT_EQ(kept_rows(plan), (Names{"slow_weights", "error", "sent_mean"}));
}

}  // namespace longhaul::kept_rows_test
