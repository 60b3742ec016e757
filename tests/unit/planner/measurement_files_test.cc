// Which files a command line or a plan names, and their bytes.
#include "planner/measurement_files.h"

#include <gtest/gtest.h>

#include "planner/gunzip.h"
#include "planner/plan_request.h"
#include "tests/support/files.h"
#include "tests/support/said.h"

namespace longhaul::measurement_files_test {
namespace {

// `printf 'from,to\n' | gzip -n`, by GNU gzip 1.12.
const std::string kGzip(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\x2b\xca\xcf\xd5\x29\xc9\xe7\x02\x00\x58\xf7\xfd\x2b\x08\x00"
    "\x00\x00",
    28);

}  // namespace

TEST(MeasuredSites, SayWhichFileDoesNotExist) {
  const TemporaryFolder folder;
  write_text(folder.file("a-b.json"), "{}");
  PlanRequest plan;
  plan.measurements = {folder.file("a-b.json"), folder.file("b-c.json")};
  std::vector<std::string> warnings;
  EXPECT_SAYS(said_by([&] { measured_sites(plan, warnings); }),
              "measurements: there is no file " + folder.file("b-c.json") + "; allowed: what iperf3 --json");
}

TEST(MeasurementFiles, OfFoldersAndPatternsInTheOrderOfNames) {
  const TemporaryFolder folder;
  for (const char* name : {"b.json", "a.TXT", "README.md", ".hidden.json", "day/c.csv", "day/deep/d.json"}) {
    std::filesystem::create_directories(std::filesystem::path(folder.file(name)).parent_path());
    write_text(folder.file(name), "x");
  }
  const auto files = [&](const std::vector<std::string>& names) {
    std::vector<std::string> all;
    for (const std::string& name : names) all.push_back(folder.file(name));
    return all;
  };
  EXPECT_EQ(measurement_files({folder.path}), files({"a.TXT", "b.json", "day/c.csv", "day/deep/d.json"}));
  EXPECT_EQ(measurement_files({folder.file("*.json")}), files({"b.json"}));
  EXPECT_EQ(measurement_files({folder.file("d?y/*.csv")}), files({"day/c.csv"}));
  EXPECT_EQ(measurement_files({folder.file("**/*.json")}), files({"b.json", "day/deep/d.json"}));
  EXPECT_EQ(measurement_files({folder.file("b.json"), folder.file("[ab].*")}), files({"b.json", "a.TXT"}));
  EXPECT_EQ(measurement_files({folder.file("gone.json")}), files({"gone.json"}))
      << "reading says that it is not there";
  EXPECT_SAYS(said_by([&] { measurement_files({folder.file("x*")}); }), "x*: matches no file");
  std::filesystem::create_directory(folder.file("empty"));
  EXPECT_SAYS(said_by([&] { measurement_files({folder.file("empty")}); }),
              "empty: is a folder without measurements; allowed: files whose names end in .json, .txt, .csv, "
              ".tsv, .log");
}

TEST(MeasurementFiles, ThatGzipCompressedAreDecompressed) {
  const TemporaryFolder folder;
  const std::string file = folder.file("table.csv.gz");
  write_text(file, kGzip);
  EXPECT_EQ(read_measurement_file(file).bytes, "from,to\n");
  write_text(file, kGzip + kGzip + std::string(100, '\0'));
  EXPECT_EQ(read_measurement_file(file).bytes, "from,to\nfrom,to\n");
  write_text(file, kGzip.substr(0, 20));
  EXPECT_SAYS(said_by([&] { read_measurement_file(file); }),
              "table.csv.gz: cannot be read: was compressed with gzip, and was cut off");
  write_text(file, kGzip.substr(0, 20) + "xxxx" + kGzip.substr(24));
  EXPECT_SAYS(said_by([&] { read_measurement_file(file); }), "is damaged");
  EXPECT_SAYS(said_by([&] { read_measurement_file(folder.path); }), "cannot be read: Is a directory");
  EXPECT_SAYS(said_by([&] { read_measurement_file(folder.file("gone")); }),
              "gone: does not exist; allowed: a file that a measurement wrote");
}

}  // namespace longhaul::measurement_files_test
