// The help of options: which entries there are, and how one of them is found.
#include "core/base/option_docs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "core/scenario/scenario_options.h"
#include "tests/support/said.h"
#include "tests/unit/core/stub_topology.h"

namespace longhaul::option_docs_test {

Node tree() {
  return section(
      "", {section("net", {either("sites", {choice("", {"even"}), table_of("", integer("").at_least(1))})
                               .means("how many at each"),
                           list_of("links", section("", {rate("up").means("of the first")}))}),
           list_of("methods", tagged("", "name", {section("ring", {integer("every").means("steps")})}))});
}

TEST(HelpText, HasAnEntryForEachKeyAndNoneForWhatHasNoName) {
  EXPECT_EQ(help_text(tree()),
            "net\n"
            "net.sites\n    how many at each\n    one of even, or an object whose values are each an integer "
            "of at least 1\n"
            "net.links\n    a list, each an object with the keys up\n"
            "net.links[].up\n    of the first\n    a rate with its unit, as \"1Gbps\"\n"
            "methods\n    a list, each an object whose \"name\" is one of ring\n"
            "methods[].<ring>\n"
            "methods[].<ring>.every\n    steps\n    an integer\n");
}

TEST(OptionAt, FollowsADottedPathAsItIsWrittenOrSaid) {
  const Node root = tree();
  EXPECT_EQ(option_at(root, "net.sites").meaning, "how many at each");
  EXPECT_EQ(option_at(root, "net.links.up").meaning, "of the first");
  EXPECT_EQ(option_at(root, "methods.ring.every").meaning, "steps");
  EXPECT_EQ(option_at(root, "methods[].<ring>.every").meaning, "steps");
  EXPECT_EQ(&option_at(root, ""), &root);
}

TEST(OptionAt, SaysWhatThereIsInstead) {
  const Node root = tree();
  const InputError error = thrown_by([&] { option_at(root, "net.link.up"); });
  EXPECT_STREQ(
      error.what(),
      "net.link.up: there is no option \"link\" here; allowed: sites, links; did you mean \"links\"?");
  EXPECT_THROW(option_at(root, "net.sites.even"), InputError) << "a value is no key";
  EXPECT_THROW(option_at(root, "net..sites"), InputError);
}

// Every entry of the real declaration has a name.
TEST(HelpText, OfAScenarioEndsNoPathWithADot) {
  std::istringstream lines(help_text(scenario_options({}, stub_topologies())));
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(line[0] == ' ' || line.back() != '.') << line;
}

}  // namespace longhaul::option_docs_test
