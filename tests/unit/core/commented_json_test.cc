#include <gtest/gtest.h>

#include <sstream>

#include "core/base/option_docs.h"

namespace longhaul {
namespace {

Node declaration() {
  return section("",
                 {integer("replicas").in("copies").means("how many"),
                  list_of("methods", tagged("", "name", {section("ddp", {text("name")}).means("every step")}))
                      .means("what is compared"),
                  section("network", {text("fidelity").means("how " + std::string(150, 'x') + " carried")})});
}

const Json kValue = {{"replicas", 8},
                     {"methods", {{{"name", "ddp"}}}},
                     {"network", {{"fidelity", "flow"}}},
                     {"free", {{"a", {1, 2}}}}};

TEST(CommentedJson, ReadsBackAsWhatWasGiven) {
  EXPECT_EQ(Json::parse(commented_json(declaration(), kValue), nullptr, true, true), kValue);
  EXPECT_EQ(Json::parse(commented_json(declaration(), Json::object()), nullptr, true, true), Json::object());
}

TEST(CommentedJson, HasTheDeclaredMeaningsAboveTheKeys) {
  const std::string text = commented_json(declaration(), kValue);
  EXPECT_EQ(
      text.rfind("{\n  // how many [copies]\n  \"replicas\": 8,\n  // what is compared\n  \"methods\": [\n"
                 "    // every step\n    {\"name\": \"ddp\"}\n  ],\n",
                 0),
      0u)
      << text;
  EXPECT_NE(text.find("  \"free\": {\"a\": [1, 2]}\n}\n"), std::string::npos) << text;
}

TEST(CommentedJson, TakesATagThatIsNoTextForNone) {
  const Json value = {{"methods", {{{"name", 4}}}}};
  EXPECT_EQ(parse_json(commented_json(declaration(), value), JsonComments::kAllowed), value);
}

// A word longer than the line stands alone.
TEST(CommentedJson, WrapsLongMeanings) {
  const std::string text = commented_json(declaration(), kValue);
  EXPECT_NE(text.find("    // how\n    // xxx"), std::string::npos) << text;
  EXPECT_NE(text.find("xxx\n    // carried\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace longhaul
