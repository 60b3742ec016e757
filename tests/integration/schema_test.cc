// The committed schema is the one that the declarations make.
#include <gtest/gtest.h>

#include "tests/integration/command.h"
#include "tests/support/said.h"

namespace longhaul::schema_test {

TEST(Schema, TheCommittedFileIsWhatTheDeclarationsMake) {
  const CommandResult result = longhaul({"list", "schema"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(read_text(scenario_file("scenario.schema.json")), result.out) << "run `make schema`";
}

TEST(List, EachTopicSaysSomething) {
  for (const char* topic :
       {"methods", "collectives", "networks", "models", "options", "combinations", "scenarios"})
    EXPECT_GT(longhaul({"list", topic}).out.size(), 100u) << topic;
}

TEST(Check, EveryScenarioInTheTreeIsValid) {
  for (const char* name : {"quickstart.json", "small.json", "three-seeds.json", "varying-network.json"}) {
    const CommandResult result = longhaul({"check", scenario_file(name)});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_SAYS(result.out, "is a valid scenario");
  }
}

TEST(Check, SaysHowWrongTheNetworkModelIsByClass) {
  const auto said = [](const std::string& tcp) {
    return longhaul({"check", scenario_file("small.json"), "--set", "network.tcp=" + tcp}).out;
  };
  const std::string words = "the network model's error where it was measured: ";
  EXPECT_SAYS(said("{}"), words + "7 % with host\n");
  EXPECT_SAYS(said(R"({"loss": 0.001})"), words + "20 % with host+loss\n");
}

}  // namespace longhaul::schema_test
