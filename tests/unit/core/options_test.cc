#include "core/base/options.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/base/option_docs.h"
#include "core/scenario/scenario_options.h"
#include "tests/support/said.h"
#include "tests/unit/core/stub_topology.h"

namespace longhaul::options_test {

Node sample() {
  return section(
      "", {integer("count").at_least(1).by_default(3), rate("rate").required(),
           section("inner", {number("x").above(0).at_most(1).by_default(0.5)}).filled(),
           one_of("shape", {text("circle"), integer("square")}).by_default({{"square", 2}}),
           tagged("method", "name", {section("a", {text("name").required(), integer("k").by_default(1)})}),
           either("size", {choice("", {"unlimited"}), bytes("").above(0)}).by_default("unlimited"),
           table_of("sites", integer("").at_least(0)), large_integer("seed")});
}

// Beside a rate.
std::string error_with(const std::string& more) {
  return said_by([&] { resolve(sample(), Json::parse(R"({"rate": "1Gbps", )" + more + "}"), ""); });
}

TEST(Options, DefaultsAreFilledInTheOrderOfTheDeclaration) {
  const Json resolved = resolve(sample(), Json::parse(R"({"rate": "1Gbps"})"), "");
  EXPECT_EQ(resolved.dump(),
            R"({"count":3,"rate":"1Gbps","inner":{"x":0.5},"shape":{"square":2},"size":"unlimited"})");
  EXPECT_EQ(resolve(sample(), resolved, ""), resolved);
}

TEST(Options, FilesOfOtherProgramsHaveOtherKeysButNoOtherTypes) {
  const auto error = [](const std::string& json) {
    return said_by([&] { check_declared(sample(), parse_json(json), ""); });
  };
  EXPECT_EQ(error(R"({"rate": "1Gbps", "newer": 1, "method": {"name": "newer"}})"), "");
  EXPECT_EQ(error(R"({"rate": "1Gbps", "method": {"name": "a", "k": []}})"),
            "method.k: found []; allowed: an integer");
  EXPECT_EQ(error(R"({"rate": "1Gbps", "inner": {"x": 2}})"),
            "inner.x: found 2; allowed: a number above 0 and at most 1");
  for (const char* size : {"unlimited", "10MB"})
    EXPECT_EQ(error(R"({"rate": "1Gbps", "size": ")" + std::string(size) + "\"}"), "") << size;
  EXPECT_EQ(error(R"({"rate": "1Gbps", "size": "0B"})").substr(0, 5), "size:");
  EXPECT_EQ(error("{}").substr(0, 30), "rate: this key is missing; all");
  EXPECT_EQ(error("[]").substr(0, 9), "found [];");
}

// "inner_steps": 4294967296 was 0 when it was read.
TEST(Options, WrongValuesNamePathFoundAndAllowed) {
  const std::pair<const char*, const char*> rows[] = {
      {R"("cuont": 2)",
       "cuont: unknown key \"cuont\"; allowed: count, rate, inner, shape, method, size, sites, seed; did "
       "you mean \"count\"?"},
      {R"("count": 0)", "count: found 0; allowed: an integer of at least 1"},
      {R"("count": 1.5)", "count: found 1.5; allowed: an integer of at least 1"},
      {R"("count": 4294967296)", "count: found 4294967296; allowed: an integer from 1 to 1000000000"},
      {R"("count": 1000000000)", ""},
      {R"("shape": {"square": -2147483649})",
       "shape.square: found -2147483649; allowed: an integer from -1000000000 to 1000000000"},
      {R"("seed": 18446744073709551615)", ""},
      {R"("inner": {"x": 0})", "inner.x: found 0; allowed: a number above 0 and at most 1"}};
  for (const auto& [json, said] : rows) EXPECT_EQ(error_with(json), said);
  for (const auto& [json, begin] : {std::pair(R"("inner": {"y": 2})", "inner.y"),
                                    {R"("seed": 18446744073709551616)", "seed: found"},
                                    {R"("seed": -1)", "seed: found -1"},
                                    {R"("sites": {"tokyo": -1})", "sites.tokyo"}})
    EXPECT_EQ(error_with(json).find(begin), 0u) << json;
  for (const auto& [json, words] :
       {std::pair(R"("shape": {"circle": "a", "square": 1})", "exactly one of the keys circle, square"),
        {R"("method": {"name": "aa"})", "allowed: a"},
        {R"("size": "unlimitd")", "is not a size"}})
    EXPECT_SAYS(error_with(json), words);
  const auto error_of = [](const Json& json) { return said_by([&] { resolve(sample(), json, ""); }); };
  EXPECT_EQ(error_of(Json::object()),
            "rate: this key is missing; allowed: a rate with its unit, as \"1Gbps\"");
  EXPECT_SAYS(error_of({{"rate", 1000}}), "write the number with its unit, in quotes");
}

// Each on a line of its own, in the order of the declaration; of a section with an unknown key none is said
// to be missing, because that one may be meant.
TEST(Options, AllMistakesAreSaidAtOnce) {
  const auto error_of = [](const char* json) {
    return said_by([&] {
      try {
        resolve(sample(), Json::parse(json), "");
      } catch (const InputError& error) {
        throw error.in_file("a.json");
      }
    });
  };
  EXPECT_EQ(
      error_of(R"({"count": 0, "inner": {"x": 2}, "sites": {"a": -1, "b": 1}, "method": {"name": "b"}})"),
      "a.json: count: found 0; allowed: an integer of at least 1\n"
      "a.json: rate: this key is missing; allowed: a rate with its unit, as \"1Gbps\"\n"
      "a.json: inner.x: found 2; allowed: a number above 0 and at most 1\n"
      "a.json: method.name: found \"b\"; allowed: a\n"
      "a.json: sites.a: found -1; allowed: an integer of at least 0");
  EXPECT_EQ(
      error_of(R"({"cuont": 1, "seed": "x"})"),
      "a.json: cuont: unknown key \"cuont\"; allowed: count, rate, inner, shape, method, size, sites, seed; "
      "did you mean \"count\"?\n"
      "a.json: seed: found \"x\"; allowed: an integer of at least 0");
}

// What people write for a number, with what to write.
TEST(Options, NumbersInWordsSayWhatToWrite) {
  for (const auto& [written, number] :
       {std::pair("€400k", "400e3"), {"400 k", "400e3"}, {"1%", "0.01"}, {"$2.3", "2.3"}, {"2T", "2e12"}})
    EXPECT_SAYS(error_with(fmt::format("\"count\": \"{}\"", written)), fmt::format("write {},", number));
}

TEST(Options, SchemaSaysTheSame) {
  const Json schema = json_schema(sample());
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["properties"]["count"]["minimum"], 1);
  EXPECT_EQ(schema["properties"]["count"]["default"], 3);
  EXPECT_EQ(schema["properties"]["inner"]["properties"]["x"]["exclusiveMinimum"], 0);
  EXPECT_EQ(schema["required"], Json::array({"rate"}));
  EXPECT_EQ(schema["properties"]["method"]["oneOf"][0]["properties"]["name"]["const"], "a");
}

// A schema with its references put back, and without the list of definitions.
Json expanded(const Json& schema, const Json& definitions) {
  if (!schema.is_structured()) return schema;
  if (schema.is_object() && schema.contains("$ref")) {
    const std::string name = schema["$ref"].get<std::string>().substr(std::string("#/$defs/").size());
    Json part = expanded(definitions.at(name), definitions);
    if (schema.contains("default")) part["default"] = schema["default"];
    return part;
  }
  Json result = schema;
  if (result.is_object()) result.erase("$defs");
  for (Json& value : result) value = expanded(value, definitions);
  return result;
}

TEST(Options, SchemaWithDefinitionsSaysTheSameInLess) {
  Node root = section("", {sample().by_default({{"rate", "1Gbps"}}), sample()});
  root.children[0].key = "first";
  root.children[1].key = "second";
  const Json plain = json_schema(root), shared = with_definitions(plain);
  EXPECT_EQ(expanded(shared, shared["$defs"]), plain);
  EXPECT_LT(shared.dump().size(), plain.dump().size() * 2 / 3);
  EXPECT_EQ(shared["properties"]["second"], (Json{{"$ref", "#/$defs/first"}}));
}

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

TEST(OptionAt, FollowsADottedPathOrSaysWhatThereIsInstead) {
  const Node root = tree();
  EXPECT_EQ(option_at(root, "net.sites").meaning, "how many at each");
  EXPECT_EQ(option_at(root, "net.links.up").meaning, "of the first");
  EXPECT_EQ(option_at(root, "methods.ring.every").meaning, "steps");
  EXPECT_EQ(option_at(root, "methods[].<ring>.every").meaning, "steps");
  EXPECT_EQ(&option_at(root, ""), &root);
  EXPECT_EQ(said_by([&] { option_at(root, "net.link.up"); }),
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

}  // namespace longhaul::options_test
