#include "analysis/site_table.h"

#include "core/base/errors.h"
#include "tests/unit/analysis/run_fixture.h"

namespace longhaul::site_table_test {

Case in_two_regions() {
  Json json = resolved_case("diloco", Json::object(), false);
  json["replicas"] = 3;
  json["network"]["topology"] = {
      {"regions",
       {{"matrix", "aws-2022"}, {"replicas", {{"oregon", 2}, {"virginia", 1}}}, {"rate", "10Gbps"}}}};
  return parse_case(json);
}

// aws-2022 has 67 ms and 0.79 Gb/s between the two, 5 ms and 2 Gb/s inside.
TEST(SiteTable, HoldsWhatTheMatrixSays) {
  TemporaryFolder folder;
  write_sites(in_two_regions(), folder.path);
  const Json sites = read_sites(folder.path);
  EXPECT_EQ(sites["sites"], Json({"oregon", "virginia"}));
  EXPECT_NEAR(sites["rtt_s"][0][1], 0.067, 1e-12);
  EXPECT_NEAR(sites["rtt_s"][0][0], 0.005, 1e-12);
  EXPECT_TRUE(sites["rtt_s"][1][1].is_null()) << "one replica alone";
  EXPECT_NEAR(sites["throughput_bps"][1][0], 0.79e9, 1);
  EXPECT_NEAR(sites["throughput_bps"][0][0], 2e9, 1);
  EXPECT_LT(sites["places"]["oregon"][1], sites["places"]["virginia"][1]) << "Oregon is in the west";
}

TEST(SiteTable, IsNotWrittenWithoutSites) {
  TemporaryFolder folder;
  write_sites(parse_case(resolved_case("diloco", Json::object(), false)), folder.path);
  EXPECT_TRUE(read_sites(folder.path).is_null());
}

TEST(SiteTable, RefusesWhatIsNone) {
  TemporaryFolder folder;
  for (const char* text : {"[]", "{}", R"({"sites": [1]})", R"({"sites": ["a"], "rtt_s": [[1]]})",
                           R"({"sites": ["a"], "rtt_s": [[1, 2]], "throughput_bps": [[1]]})",
                           R"({"sites": ["a"], "rtt_s": [[-1]], "throughput_bps": [[1]]})",
                           R"({"sites": ["a"], "places": {"a": [0, 0]}})",
                           R"({"sites": ["a"], "coordinates": "c", "places": {"a": [91, 0]}})",
                           R"({"sites": ["a"], "coordinates": "c", "places": {"a": [0]}})"}) {
    write_text(folder.path + "/sites.json", text);
    EXPECT_THROW(read_sites(folder.path), DamagedFile) << text;
  }
}

}  // namespace longhaul::site_table_test
