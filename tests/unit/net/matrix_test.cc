#include "net/topologies/matrix.h"

#include <gtest/gtest.h>

#include "net/topologies/registry.h"
#include "tests/support/files.h"
#include "tests/support/said.h"
#include "tests/unit/net/cases.h"

namespace longhaul::matrix_test {

std::string error_of(const std::string& text) {
  return said_by([&] { Matrix::parse(text, "mine.json"); });
}

std::string with_pairs(const std::string& pairs) {
  return R"({"about": "a", "source": "s", "sites": ["x", "y", "z"],
             "inside": {"rtt": "1ms", "throughput": "1Gbps"}, "pairs": [)" +
         pairs + "]}";
}

std::string pair_of(const std::string& text, const std::string& other) {
  return R"({"between": [")" + text + R"(", ")" + other + R"("], "rtt": "10ms", "throughput": "1Gbps"})";
}

TEST(Matrix, BuiltInOnesSayWhereTheyComeFrom) {
  EXPECT_EQ(built_in_matrices(), (std::vector<std::string>{"aws-2022", "gcp-2025"}));
  EXPECT_EQ(load_matrix("aws-2022", ".").sites().size(), 10u);
  EXPECT_EQ(load_matrix("gcp-2025", ".").sites().size(), 12u);
  for (const std::string& name : built_in_matrices()) EXPECT_GT(load_matrix(name, ".").source().size(), 20u);
}

TEST(Matrix, AwsHoldsRoundTripsAndGcpOneWayDelays) {
  const Matrix aws = load_matrix("aws-2022", "."), gcp = load_matrix("gcp-2025", ".");
  EXPECT_DOUBLE_EQ(aws.between("oregon", "virginia").rtt, 0.067);
  EXPECT_DOUBLE_EQ(aws.between("ireland", "frankfurt").throughput, 1.08e9);
  EXPECT_DOUBLE_EQ(aws.inside().rtt, 0.005);
  EXPECT_DOUBLE_EQ(gcp.between("australia", "belgium").rtt, 2 * 0.129);
  EXPECT_DOUBLE_EQ(gcp.between("london", "netherlands").throughput, 2083e6)
      << "the published value, corrected";
  EXPECT_DOUBLE_EQ(gcp.inside().rtt, 0.002);
}

TEST(Matrix, BadFilesAreNamedWithThePlace) {
  std::string twice = with_pairs(pair_of("x", "y"));
  twice.replace(twice.find("\"rtt\": \"10ms\""), 13, "\"rtt\": \"1ms\", \"rtt\": \"10ms\"");
  EXPECT_SAYS(error_of(twice), "pairs[0].rtt: the key \"rtt\" stands twice");
  EXPECT_SAYS(error_of("{"), "mine.json");
  EXPECT_SAYS(error_of(with_pairs(pair_of("x", "y"))), "x, z is missing");
  EXPECT_SAYS(error_of(with_pairs(pair_of("x", "q"))), "pairs[0].between");
  EXPECT_SAYS(error_of(with_pairs(pair_of("x", "y") + "," + pair_of("y", "x"))), "twice");
  std::string negative = with_pairs(pair_of("x", "y") + "," + pair_of("x", "z")), still = negative;
  negative.replace(negative.find("\"10ms\"") + 1, 2, "-9");
  still.replace(still.rfind("1Gbps"), 1, "0");
  EXPECT_SAYS(error_of(negative), "pairs[0].rtt: found \"-9ms\" (the pair [\"x\",\"y\"])");
  EXPECT_SAYS(error_of(still), "pairs[1].throughput: found \"0Gbps\" (the pair [\"x\",\"z\"])");
  EXPECT_SAYS(error_of(R"({"about": "a", "sorce": "s"})"), "sorce");
}

std::string whole_matrix() {
  return with_pairs(pair_of("x", "y") + "," + pair_of("x", "z") + "," + pair_of("y", "z"));
}

TEST(MatrixFile, OfTheUserIsReadFromTheScenariosFolder) {
  const TemporaryFolder folder;
  write_text(folder.file("mine.json"), whole_matrix());
  EXPECT_DOUBLE_EQ(load_matrix("mine.json", folder.path).between("z", "y").rtt, 0.01);
  EXPECT_THROW(load_matrix("mine.json", folder.file("elsewhere")), InputError);
}

// Sites 10 ms apart with 25 ms inside: the trunk would need a negative delay.
TEST(MatrixFile, WithSitesNearerThanTheirInsideIsAnError) {
  const TemporaryFolder folder;
  std::string text = whole_matrix();
  text.replace(text.find("1ms"), 3, "25ms");
  write_text(folder.file("near.json"), text);
  Case config = regions_case("near.json", {{"x", 1}, {"y", 1}});
  config.folder = folder.path;
  EXPECT_SAYS(said_by([&] { build_topology(config); }), "x-y");
}

}  // namespace longhaul::matrix_test
