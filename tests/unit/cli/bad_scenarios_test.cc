// Wrong scenarios (tests/data/bad_scenarios.json): what is set in scenarios/small.json, by JSON pointer (null
// removes), and what the one message of `longhaul check` must say; nothing where the scenario is right. Then
// "warned" has what each of its warnings must say.
#include <gtest/gtest.h>

#include <algorithm>

#include "checks/validated_scenario.h"
#include "cli/commands.h"
#include "tests/support/files.h"
#include "tests/support/said.h"

namespace longhaul::bad_scenarios_test {

const std::string kTree = LONGHAUL_SOURCE_DIR, kData = kTree + "/tests/data/";

std::string written(const Json& changes, const TemporaryFolder& folder) {
  Json scenario = Json::parse(read_text(kTree + "/scenarios/small.json"));
  for (const auto& [pointer, value] : changes.items()) {
    const Json::json_pointer at(pointer);
    if (value.is_null())
      scenario.at(at.parent_pointer()).erase(at.back());
    else
      scenario[at] = value;
  }
  std::string text = scenario.dump(1);
  for (std::size_t at; (at = text.find("DATA/")) != std::string::npos;) text.replace(at, 5, kData);
  write_text(folder.file("bad.json"), text);
  return folder.file("bad.json");
}

TEST(BadScenarios, AreRefusedInOneMessage) {
  const Json rows = Json::parse(read_text(kData + "bad_scenarios.json"));
  ASSERT_GT(rows.size(), 50u);
  for (const Json& row : rows) {
    const TemporaryFolder folder;
    CheckOptions options;
    options.scenario = written(row["set"], folder);
    SCOPED_TRACE(row["name"]);
    const std::string said = said_by([&] { check_command(options); });
    EXPECT_EQ(said.empty(), row["said"].empty()) << said;
    if (said.empty() && row.contains("warned")) {
      const std::vector<std::string> warnings = scenario_warnings(validated_scenario(options.scenario, {}));
      EXPECT_EQ(warnings.size(), row["warned"].size()) << join(warnings);
      for (std::size_t i = 0; i < std::min(warnings.size(), row["warned"].size()); ++i)
        EXPECT_SAYS(warnings[i], row["warned"][i].get<std::string>());
    }
    if (row["said"].empty()) continue;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    // It names the file that is wrong: the scenario, or one that the scenario names.
    EXPECT_TRUE(said.find(".json: ") != std::string::npos || said.find(".graphml: ") != std::string::npos)
        << said;
    for (const std::string words : row["said"]) EXPECT_SAYS(said, words);
  }
}

}  // namespace longhaul::bad_scenarios_test
