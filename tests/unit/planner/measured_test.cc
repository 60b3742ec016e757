// What is particular to reading measurements: JSON that other parsers read otherwise, encodings, hosts in any
// spelling, and files that would end a program which trusts them. tests/python/measured_formats_test.py reads
// the files of tests/data/measured, which the tools wrote.
#include <gtest/gtest.h>

#include <cmath>

#include "planner/measured/csv_rows.h"
#include "planner/measured/documents.h"
#include "planner/measured/formats.h"
#include "planner/measured/json_scanner.h"
#include "planner/measured/line_pattern.h"
#include "planner/measured/matrix.h"
#include "planner/measured/text.h"
#include "tests/support/said.h"

namespace longhaul::measured_test {
namespace {

using namespace measured;
using namespace std::string_literals;

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

Json scanned(const std::string& text) {
  std::size_t at = 0;
  return scan_json(text, at);
}

const Sites& oslo_and_rome() {
  static const Sites sites({{"oslo", {"10.1.0.1", "gpu.oslo.example"}}, {"rome", {"10.2.0.1", "fd00::2"}}});
  return sites;
}

std::string refused(const std::string& name, const std::string& bytes) {
  return said_by([&] { read({name, bytes}, oslo_and_rome()); });
}

}  // namespace

// iperf3 before 3.12 writes the sums of both directions under one key.
TEST(JsonScanner, SecondSumOfAnObjectGetsTheLaterName) {
  EXPECT_EQ(scanned(R"({"sum_sent": 1, "x": 2, "sum_sent": 3, "x": 4, "sum_sent": 5})"),
            (Json{{"sum_sent", 1}, {"x", 2}, {"sum_sent_bidir_reverse", 3}}));
}

TEST(JsonScanner, ReadsWhatFollowsLaterAndNumbersOfAnySize) {
  std::size_t at = 2;
  EXPECT_EQ(scan_json("; [1, -2.5e1, true, null, \"\\u00e9\\ud83d\\ude00\\ud83d\"] x", at),
            Json::parse("[1, -25.0, true, null, \"\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd\"]"));
  EXPECT_EQ(at, 53U);
  EXPECT_TRUE(std::isinf(scanned("1e999").get<double>()));
  EXPECT_TRUE(std::isnan(scanned("NaN").get<double>()));
  EXPECT_EQ(scanned("123456789012345678901234567890").get<double>(), 123456789012345678901234567890.);
}

TEST(JsonScanner, SaysWhereAndWhatIsBroken) {
  for (const auto& [text, words, place] :
       {std::tuple("{\"a\" 1}", "a colon is missing", 5U),
        {"{\"a\": 1 2}", "a comma is missing", 8U},
        {"{\"a\": 1,}", "a key in double quotes is missing", 8U},
        {"[1, ]", "a value is missing", 4U},
        {"[-]", "a value is missing", 1U},
        {"[\"a", "a text has no end", 1U},
        {"[\"\\x\"]", "a backslash stands before a letter that means nothing", 2U},
        {"[\"\n\"]", "a text has a control character", 2U}}) {
    try {
      scanned(text);
      ADD_FAILURE() << text;
    } catch (const BrokenJson& error) {
      EXPECT_EQ(error.what(), std::string(words)) << text;
      EXPECT_EQ(error.at, place) << text;
    }
  }
}

TEST(Documents, InOtherLinesAndCutOff) {
  EXPECT_EQ(json_documents("f", "warning: x {\n {\"a\": 1} {\"b\": 2}\nmore\n{\"c\": 3},\n").size(), 3U);
  EXPECT_EQ(json_documents("f", "[{\"a\": 1},\n{\"b\": 2}]").size(), 2U);
  EXPECT_SAYS(said_by([] { json_documents("f", "[{\"a\": 1},\n"); }),
              "f: ends before its array does: the file was cut off");
  EXPECT_SAYS(said_by([] { json_documents("f", "{\"a\":\n 1, \"b"); }),
              "f: ends in the middle of its JSON (line 2)");
  EXPECT_SAYS(said_by([] { json_documents("f", "{\"a\":\n b}"); }),
              "f: line 2 is no JSON (a value is missing); allowed: the file as the tool wrote it");
  EXPECT_SAYS(said_by([] { json_documents("f", repeated("{\"a\": ", 100000)); }),
              "f: is nested too deeply to be a measurement");
  EXPECT_SAYS(said_by([] { json_documents("f", "{\"a\": " + repeated("[", 100000)); }),
              "is nested too deeply");
}

TEST(Documents, OfTheEncodingsThatShellsWrite) {
  EXPECT_EQ(decoded("\xef\xbb\xbf\xc3\xa9"), "\xc3\xa9");
  EXPECT_EQ(decoded("\xff\xfe"
                    "\xe9\0\x3d\xd8\0\xde"s),
            "\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_EQ(decoded("\xfe\xff"
                    "\0\xe9\xd8\x3d"s),
            "\xc3\xa9\xef\xbf\xbd")
      << "half of a pair";
  EXPECT_EQ(decoded("a\0b\0c\0"s), "abc");
  EXPECT_EQ(decoded("\0a\0b\0c"s), "abc");
  EXPECT_EQ(decoded("\x1b[1;31mred\x1b[0m \x1b[x"), "red ") << "colours";
  EXPECT_EQ(decoded("a\xff\xe2\x82z\xed\xa0\x80"),
            "a\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd")
      << "no characters of UTF-8";
}

TEST(MeasuredHosts, InAnySpelling) {
  const Sites& sites = oslo_and_rome();
  for (const char* host : {"10.1.0.1", "::ffff:10.1.0.1", "::FFFF:a01:1", "GPU.oslo.example.", "gpu"})
    EXPECT_EQ(sites.of_host({host}), "oslo") << host;
  EXPECT_EQ(sites.of_host({"", "10.9.9.9", "[fd00:0:0::2%eth0]"}), "rome");
  EXPECT_EQ(sites.of_host({"10.1.0", "rome"}), "");
}

TEST(MeasuredHosts, SitesInAFilesName) {
  const Sites sites({{"Oslo", {}}, {"oslo-east", {}}, {"Z\xc3\xbcrich", {}}});
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(sites.pair_in_name("x/oslo-east_Oslo-2.json"), (Pair{"oslo-east", "Oslo"}));
  EXPECT_EQ(sites.pair_in_name("x/OSLO-to-Z\xc3\x9cRICH.txt"), (Pair{"Oslo", "Z\xc3\xbcrich"}));
  EXPECT_EQ(sites.pair_in_name("Oslo-Z\xc3\xbcrich/1.json"), (Pair{"Oslo", "Z\xc3\xbcrich"}));
  EXPECT_EQ(sites.pair_in_name("x/Oslo-oslo-eastern.json"), std::nullopt);
  EXPECT_EQ(sites.site_in_name("x/oslo-east.txt"), "oslo-east");
  EXPECT_EQ(sites.site_in_name("x/Oslon.txt"), "");
}

TEST(MeasuredCells, InQuotes) {
  using Rows = std::vector<std::vector<std::string>>;
  EXPECT_EQ(csv_rows({"a,\"b,\"\"c\"\"\",", "\"d", "e\"f"}), (Rows{{"a", "b,\"c\"", ""}, {"def"}}));
  EXPECT_EQ(csv_rows({"a; \"b\""}, ';', Blanks::kSkipped), (Rows{{"a", "b"}}));
}

TEST(LinePattern, PassesOverLinesThatNoToolWrites) {
  const LinePattern pattern("x", "(a|b)*x");
  EXPECT_TRUE(pattern.in(repeated("a", 900) + "x"));
  EXPECT_FALSE(pattern.in(repeated("a", 1000000) + "x"));
}

// The numbers have no meaning to a reader who does not see that they cannot be.
TEST(MeasuredFiles, ThatAreDamagedAreRefusedInOneLine) {
  EXPECT_SAYS(refused("x.json", R"({"start": [], "end": {}})"), "x.json: ");
  EXPECT_SAYS(refused("x.json", R"({"start": {"test_start": {}, "connected": 4}, "end": {"a": 1}})"),
              "x.json: is damaged, or not as its tool wrote it (a number where a list should stand); "
              "allowed: `iperf3");
  EXPECT_SAYS(
      refused("x.json",
              R"({"start": {"test_start": {"num_streams": -1}, "connected": [{"local_host": "10.1.0.1",)"
              R"( "remote_host": "10.2.0.1"}]}, "end": {"sum_received": {"bits_per_second": 1e8}}})"),
      "x.json: is damaged, or not as its tool wrote it (-1 streams)");
  EXPECT_SAYS(refused("oslo-rome.csv", "from,to,rate_mbps\noslo,rome,1e999\n"),
              "line 2, rate_mbps: found \"1e999\"");
  EXPECT_SAYS(refused("oslo-rome.txt", repeated("rtt min/avg/max = 1/", 100000)),
              "is of no tool that is read");
  EXPECT_SAYS(refused("oslo-rome.txt", "rtt min/avg/max = 1.2.3/"), "is damaged");
  EXPECT_SAYS(refused("oslo-rome.txt", "\0\0 \r\n"s), "is empty");
}

// Of 20, 200 and 270 one way 200 counts, of 300 the other way nothing: the slower direction.
TEST(MeasuredMatrix, MedianOfEachDirectionThenTheSlower) {
  const std::string table =
      "from,to,rate_mbps,rtt_ms\noslo,rome,300,31\nrome,oslo,20,33\nrome,oslo,200,\nrome,oslo,270,\n";
  Known known;
  known.sites = {{"oslo", {}}, {"rome", {}}};
  known.inside = {{"rtt", "0.5ms"}, {"throughput", "940Mbps"}};
  std::vector<std::string> warnings;
  const Json matrix = matrix_of(std::vector<MeasurementFile>{{"day/all.csv", table}}, known, warnings);
  EXPECT_EQ(
      matrix.dump(),
      R"({"about":"2 sites, measured","source":"measured: all.csv","sites":["oslo","rome"],)"
      R"("inside":{"rtt":"0.5ms","throughput":"940Mbps"},"pairs":[{"between":["oslo","rome"],"rtt":"31ms",)"
      R"("throughput":"200Mbps","measured":[{"from":"oslo","connections":1,"throughput":"300Mbps"},)"
      R"({"from":"rome","connections":1,"throughput":"200Mbps"}]}]})");
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_EQ(warnings[0],
            "oslo and rome: 3 tests from rome carried 20 to 270 Mb/s; the median, 200, is taken");
  EXPECT_SAYS(warnings[1],
              "oslo and rome: 200 Mb/s in day/all.csv, 300 in day/all.csv; the slower one is taken");
}

Json pair_of_table(const std::string& table, std::vector<std::string>& warnings, const Known& more = {}) {
  Known known = more;
  known.sites = {{"oslo", {}}, {"rome", {}}};
  known.inside = {{"rtt", "0.5ms"}, {"throughput", "940Mbps"}};
  return matrix_of(std::vector<MeasurementFile>{{"all.csv", table}}, known, warnings)["pairs"][0];
}

// One stream carries 300 Mb/s one way; of the other way eight alone are known, 10 Mb/s each.
TEST(MeasuredMatrix, ADirectionOfSeveralStreamsCountsBesideOneOfOne) {
  std::vector<std::string> warnings;
  const Json pair =
      pair_of_table("from,to,streams,rate_mbps,rtt_ms\noslo,rome,1,300,60\nrome,oslo,8,80,60\n", warnings);
  EXPECT_EQ(pair["throughput"], "10Mbps");
  EXPECT_SAYS(join(warnings), "10 Mb/s in all.csv, 300 in all.csv; the slower one is taken");
  EXPECT_SAYS(join(warnings), "8 streams carried 80 Mb/s together");
  warnings.clear();
  const Json all = pair_of_table(
      "from,to,streams,rate_mbps,rtt_ms\noslo,rome,1,300,60\nrome,oslo,1,200,60\nrome,oslo,8,80,60\n",
      warnings);
  EXPECT_EQ(all["throughput"], "200Mbps");
  EXPECT_SAYS(join(warnings), "8 streams from rome carried 80 Mb/s together, less than the 200 of one");
}

// What coordinates say counts where nothing was measured: not beside a table's round trip, nor beside
// iperf3's own.
TEST(MeasuredMatrix, CoordinatesAreAGuess) {
  Known known;
  known.guesses[pair_of("oslo", "rome")] = "0.017s";
  std::vector<std::string> warnings;
  EXPECT_EQ(pair_of_table("from,to,rate_mbps\noslo,rome,300\n", warnings, known)["rtt"], "0.017s");
  EXPECT_EQ(pair_of_table("from,to,rate_mbps,rtt_ms\noslo,rome,300,60\n", warnings, known)["rtt"], "60ms");
  Measured loaded;
  loaded.pair = pair_of("oslo", "rome");
  loaded.sender = "oslo";
  loaded.streams = 1;
  loaded.together_bps = 3e8;
  loaded.rtt_s = 0.05;
  loaded.is_loaded = true;
  known.sites = {{"oslo", {}}, {"rome", {}}};
  known.inside = {{"rtt", "0.5ms"}, {"throughput", "940Mbps"}};
  warnings.clear();
  EXPECT_EQ(matrix_of(std::vector<Measured>{loaded}, known, warnings)["pairs"][0]["rtt"], "50ms");
  EXPECT_SAYS(join(warnings), "the round trip is iperf3's, beside its own load");
  known.rtts[pair_of("oslo", "rome")] = "0.044s";  // of a plan's paths
  EXPECT_EQ(matrix_of(std::vector<Measured>{loaded}, known, warnings)["pairs"][0]["rtt"], "0.044s");
}

}  // namespace longhaul::measured_test
