// longhaul new: what is written is a valid scenario whose schema an editor finds.
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/validated_scenario.h"
#include "core/base/errors.h"
#include "tests/support/files.h"

namespace longhaul::new_command_test {

TEST(NewCommand, WritesAValidScenarioThatNamesItsSchema) {
  const TemporaryFolder folder;
  ASSERT_EQ(new_command(folder.file("my.jsonc")), kDone);
  const Scenario scenario = validated_scenario(folder.file("my.jsonc"), {});
  EXPECT_EQ(scenario.name, "my");
  EXPECT_EQ(scenario.cases.size(), 9u);  // three methods, three seeds
  const std::string schema = scenario.written["$schema"], scheme = "file://";
  ASSERT_EQ(schema.rfind(scheme, 0), 0u) << schema;
  EXPECT_TRUE(std::filesystem::exists(schema.substr(scheme.size()))) << schema;
}

TEST(NewCommand, AFileThatExistsStays) {
  const TemporaryFolder folder;
  write_text(folder.file("my.jsonc"), "mine");
  EXPECT_THROW(new_command(folder.file("my.jsonc")), InputError);
  EXPECT_EQ(read_text(folder.file("my.jsonc")), "mine");
}

}  // namespace longhaul::new_command_test
