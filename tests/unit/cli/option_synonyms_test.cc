// The table of core/base/option_synonyms.h against the declarations of all options, which only cli/ has
// together.
#include "core/base/option_synonyms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "checks/validated_scenario.h"
#include "planner/plan_options.h"

namespace longhaul::option_synonyms_test {

// Is `value` one of the fixed words of the option, itself or as one of several forms?
bool may_be(const Node& option, const std::string& value) {
  return std::count(option.choices.begin(), option.choices.end(), value) > 0 ||
         std::any_of(option.children.begin(), option.children.end(), [&](const Node& child) {
           return option.kind == NodeKind::kEither && may_be(child, value);
         });
}

TEST(OptionSynonyms, EachLeadsToAnOptionThatExists) {
  const Node plan = plan_options(scenario_declaration());
  std::set<std::pair<std::string, std::string>> seen;
  for (const OptionSynonym& other : option_synonyms()) {
    EXPECT_TRUE(seen.emplace(other.word, other.path).second) << other.word;
    for (const char c : std::string(other.word)) EXPECT_TRUE(c != '-' && !std::isupper(c)) << other.word;
    const std::string path = other.path, key = path.substr(0, path.find('='));
    const Node* option = option_on_path(scenario_declaration(), key);
    if (!option) option = option_on_path(plan, key);
    ASSERT_TRUE(option) << other.word << ": " << key;
    EXPECT_TRUE(key == path || may_be(*option, path.substr(key.size() + 1))) << other.word << ": " << path;
  }
}

// What was tried in a scenario and led nowhere.
TEST(OptionSynonyms, LeadToThePlace) {
  const Node& scenario = scenario_declaration();
  EXPECT_EQ(place_of_synonym("H", scenario), "that is methods.LABEL.inner_steps here");
  EXPECT_EQ(place_of_synonym("background", scenario), "that is network.variation.background here");
  EXPECT_EQ(place_of_synonym("fp8", scenario),
            "that is workload.wire \"int8\" here (as many bytes; there is no fp8)");
  EXPECT_EQ(place_of_synonym("stragglers", scenario),
            "that is workload.step_time_factors here (slow all the time), or faults of kind slow");
  EXPECT_EQ(place_of_synonym("colour", scenario), "");
  EXPECT_EQ(place_of_synonym("H", plan_options(scenario)), "that is candidates.inner_steps here");
}

}  // namespace longhaul::option_synonyms_test
