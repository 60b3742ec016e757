// What is read of a JSON text: no deeper than kDeepestJson, each value only as what it is, in our own words,
// and no key twice: an error with the path of the second. The same key in other objects is none.
#include "core/base/json.h"

#include <gtest/gtest.h>

#include "tests/support/said.h"

namespace longhaul::json_test {

template <typename T>
std::string error_as(const char* json) {
  return said_by([&] { parse_json(json).get<T>(); });
}

TEST(JsonReading, KeepsNumbersInTheirType) {
  EXPECT_EQ(parse_json("2147483647").get<int>(), 2147483647);
  EXPECT_EQ(parse_json("-2147483648").get<int>(), -2147483647 - 1);
  EXPECT_EQ(error_as<int>("2147483648"),
            "found 2147483648; allowed: an integer from -2147483648 to 2147483647");
  EXPECT_EQ(error_as<int>("4294967296").substr(0, 16), "found 4294967296");
  EXPECT_EQ(parse_json("9223372036854775807").get<std::int64_t>(), 9223372036854775807);
  EXPECT_NE(error_as<std::int64_t>("9223372036854775808"), "");
  EXPECT_EQ(parse_json("18446744073709551615").get<std::uint64_t>(), 18446744073709551615u);
  EXPECT_NE(error_as<std::uint64_t>("-1"), "");
  EXPECT_NE(error_as<std::vector<int>>("[1, 4294967297]"), "");
  EXPECT_EQ(parse_json("4.0").get<int>(), 4);
  EXPECT_EQ(parse_json("1e6").get<int>(), 1000000);
  for (const char* other : {"4.5", "1e300", "-1e300", "true", "null", "\"4\"", "[4]"})
    EXPECT_NE(error_as<int>(other), "") << other;
  EXPECT_EQ(error_as<double>("\"4\""), "found \"4\"; allowed: a number");
  EXPECT_EQ(parse_json("4").get<double>(), 4.);
  EXPECT_NE(error_as<std::uint64_t>("-1.0"), "");
  EXPECT_NE(error_as<std::int64_t>("9007199254740994.0"), "");  // above 2^53 a double names no one integer
}

// The library copies and writes a value by calling itself: a hundred thousand brackets took all of the stack.
TEST(JsonReading, GoesNoDeeperThanPeopleWrite) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(parse_json(nested(kDeepestJson)).dump(), nested(kDeepestJson));
  EXPECT_EQ(said_by([&] { parse_json(nested(kDeepestJson + 1)); }),
            "line 1, column 101: found JSON nested 101 deep; allowed: at most 100");
  EXPECT_NE(said_by([&] { parse_json(nested(1000000)); }), "");
  EXPECT_SAYS(said_by([&] { parse_json("\n" + std::string(200, '{')); }), "line 2, column 101");
  const std::string brackets(500, '[');
  EXPECT_EQ(parse_json("\"\\\"" + brackets + "\"").get<std::string>(), "\"" + brackets);
  EXPECT_EQ(parse_json("[1, // " + brackets + "\n 2 /* " + brackets + " */]", JsonComments::kAllowed).size(),
            2u);
  EXPECT_NE(said_by([&] { parse_json("[1, // " + brackets + "\n 2]"); }), "") << "comments are not allowed";
}

TEST(JsonReading, SaysWhereATextIsNoJson) {
  EXPECT_EQ(said_by([] { parse_json("{\n  \"a\": }"); }).substr(0, 25), "line 2, column 8: is not ");
  EXPECT_EQ(said_by([] { parse_json("1e999"); }).substr(0, 12), "is not JSON ");
  EXPECT_NE(said_by([] { parse_json(""); }), "");
  EXPECT_NE(said_by([] { parse_json("\"\xff\""); }), "");
}

template <typename Use>
std::string in_words(const char* json, const Use& use) {
  try {
    use(parse_json(json));
  } catch (const Json::exception& error) {
    return in_our_words(error).what();
  }
  return "";
}

TEST(JsonReading, HasNoWordsOfTheLibrary) {
  EXPECT_EQ(in_words("{}", [](const Json& json) { json.at("steps"); }), "steps: this key is missing");
  EXPECT_EQ(in_words("[]", [](const Json& json) { json.at(3); }),
            "a list has fewer elements than are needed");
  EXPECT_EQ(in_words("[]", [](const Json& json) { json.get<std::string>(); }),
            "found an array; allowed: a string");
  EXPECT_EQ(in_words("4", [](const Json& json) { json.get<std::vector<int>>(); }),
            "found a number; allowed: an array");
  EXPECT_EQ(in_words("4", [](const Json& json) { json.at("a"); }),
            "found a number; allowed: an object or a list");
}

// It was undefined, and read what is no value.
TEST(JsonReading, AConstValueWithoutTheKeyBreaksOff) {
  const Json value = parse_json("{}");
  EXPECT_THROW(value["a"], std::logic_error);
}

TEST(DuplicateKeys, AreFoundWithTheirPath) {
  const std::pair<const char*, const char*> paths[] = {
      {R"({"a": 1, "b": 2, "a": 3})", "a"},
      {R"({"a": {"b": 1, "b": 1}})", "a.b"},
      {R"({"list": [1, {"x": 1}, {"x": 1, "y": [], "x": {}}]})", "list[2].x"},
      {R"([[{"k": null}, {"k": 0, "k": 0}]])", "[0][1].k"},
      {R"({"a": {"a": {"a": 1}}, "b": {"a": "\"a\": 1, \"a\": 2"}})", ""},  // of other objects, in texts
      {"{\"a\": 1, // \"a\": 2\n /* \"a\": 3 */ \"b\": [1.5, true, -2]}", ""},
      {"[]", ""}};
  for (const auto& [text, path] : paths)
    EXPECT_EQ(refused_path([json = text] { check_no_duplicate_keys(json); }), path) << text;
}

}  // namespace longhaul::json_test
