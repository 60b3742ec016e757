// Files, and the CSV and JSON in them. What is read of a JSON text: no deeper than kDeepestJson, each value
// only as what it is, in our own words, and no key twice: an error with the path of the second. The same key
// in other objects is none.
#include "core/base/files.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>

#include "core/base/json.h"
#include "tests/support/csv_table.h"
#include "tests/support/files.h"
#include "tests/support/said.h"

namespace longhaul::files_test {

TEST(Files, AreReadWholeOrNot) {
  const TemporaryFolder folder;
  write_text(folder.file("empty"), "");
  EXPECT_EQ(read_file(folder.file("empty")), "");
  EXPECT_EQ(read_file(folder.file("none")), std::nullopt);
  EXPECT_EQ(read_file("/proc/self/mem"), std::nullopt) << "its first page cannot be read";
}

TEST(Files, ANameLeadsNowhereElse) {
  for (const char* name : {"noloco,network.tcp.connections=1", "a b", "...", "..a", "-"})
    EXPECT_TRUE(is_file_name(name)) << name;
  const std::vector<std::string> wrong = {"", ".", "..", "../a", "/etc", "a/b", std::string("a\0b", 3)};
  for (const std::string& name : wrong) EXPECT_FALSE(is_file_name(name)) << name;
}

TEST(Files, WhatCannotBeWrittenSaysWhy) {
  const auto said = [](int reason) {
    errno = reason;
    return std::string(unwritable("a.csv").what());
  };
  EXPECT_EQ(said(ENOSPC), "a.csv: cannot be written: No space left on device");
  EXPECT_EQ(said(EMFILE), "a.csv: cannot be written: Too many open files (ulimit -n; fewer --jobs)");
  EXPECT_EQ(said(EFBIG),
            "a.csv: cannot be written: File too large (is there a limit on the size of files, ulimit -f?)");
  EXPECT_EQ(said(0), "a.csv: cannot be written (is the disk full?)");
}

TEST(Csv, RoundTripWithCommasAndQuotes) {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.csv");
  CsvWriter out(file, {"case", "x"});
  out.cell("noloco,seed=1").cell(0.1).end_row();
  out.cell("a \"b\"").cell(7).end_row();
  out.flush();
  const CsvTable table = read_csv(file);
  using Rows = std::vector<std::vector<std::string>>;
  EXPECT_EQ(table.rows, (Rows{{"noloco,seed=1", "0.1"}, {"a \"b\"", "7"}}));
  EXPECT_EQ(table.column("x"), 1u);
  EXPECT_THROW(table.column("y"), RunError);
}

TEST(Csv, AFullDiskIsARunError) {
  if (!std::ifstream("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  CsvWriter out("/dev/full", {"a"});
  EXPECT_THROW((out.cell(1).end_row(), out.flush()), RunError);
}

// The last line has no end. Cases that run side by side are joined as they come: one may not have written
// its header yet.
TEST(CsvStream, AddressesColumnsByNameAndLeavesOutWhatIsNotWhole) {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.csv");
  write_text(file, "b,a\n2.5,1\n3,");
  CsvStream rows(file, {"a", "b"});
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.integer(0), 1);
  EXPECT_EQ(rows.number(1), 2.5);
  EXPECT_FALSE(rows.next());
  for (const char* begun : {"", "a,"}) {
    write_text(file, begun);
    EXPECT_FALSE(CsvStream(file, {"a", "b"}).next());
  }
}

TEST(CsvStream, NamesFileAndLineOfWhatIsWrong) {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.csv");
  write_text(file, "a,b\n1,2\n3\n");
  CsvStream rows(file, {"a"});
  rows.next();
  EXPECT_EQ(said_by([&] { rows.next(); }), file + ": line 3 has 1 cells, the header 2");
  EXPECT_EQ(said_by([&] { CsvStream(file, {"loss"}); }), file + ": has no column \"loss\"");
  write_text(file, "a\nx\n");
  CsvStream words(file, {"a"});
  words.next();
  EXPECT_EQ(said_by([&] { words.number(0); }), file + ": line 2 has \"x\" for a number in \"a\"");
}

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

}  // namespace longhaul::files_test
