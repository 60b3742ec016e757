// docs/reference/formats against a real run directory: its pages name every file, and the example reads one.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "tests/integration/command.h"
#include "tests/support/csv_table.h"

namespace longhaul::formats_test {

namespace fs = std::filesystem;

// Each test runs in a process of its own and a run takes seconds: so it is one test of several parts.
//
// The pages name every file, and the header of a table as it is: `name`: `columns`.
void every_file_is_documented(const std::string& run) {
  std::string text;
  for (const auto& page : fs::directory_iterator(LONGHAUL_SOURCE_DIR "/docs/reference/formats"))
    text += read_text(page.path().string());
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const fs::path& file = entry.path();
    std::string said =
        "`" + std::regex_replace(file.filename().string(), std::regex("step-[0-9]+"), "step-N") + "`";
    if (file.extension() == ".csv" && file.parent_path() != run) {
      const std::string table = read_text(file.string());
      said += ": `" + table.substr(0, table.find('\n')) + "`";
    }
    EXPECT_NE(text.find(said), std::string::npos) << file << ": " << said;
  }
  EXPECT_GT(files, 100);
}

// What the example works out from tables, trace and checkpoint, against the record that analysis/ made.
void example_reads(const std::string& run) {
  const std::string table = run + "/example.csv";
  write_text(table, output_of("/usr/bin/python3 -I '" LONGHAUL_SOURCE_DIR "/docs/examples/read_run.py' '" +
                              run + "'"));
  const CsvTable read = read_csv(table);
  fs::remove(table);
  const Json summary = summary_of(run);
  ASSERT_EQ(read.rows.size(), summary["cases"].size());
  for (std::size_t i = 0; i < read.rows.size(); ++i) {
    const Json& record = summary["cases"][i];
    const std::vector<std::string>& row = read.rows[i];
    EXPECT_EQ(row[0], record["case"]);
    if (record["sync_time_s"].is_null())
      EXPECT_EQ(row[1], "") << row[0];
    else
      EXPECT_NEAR(std::stod(row[1]), record["sync_time_s"]["mean"].get<double>(), 1e-9) << row[0];
    EXPECT_DOUBLE_EQ(std::stod(row[2]), record["final_loss"].get<double>());
    // Framing makes the wire's bytes more than the payload of all replicas, over two links each.
    const double payload = record["bytes_sent_per_replica"].get<double>() * record["replicas"].get<double>();
    EXPECT_GE(std::stod(row[3]), 2 * payload) << row[0];
    EXPECT_GT(std::stod(row[4]), 0.01) << row[0];
    EXPECT_LT(std::stod(row[4]), 1) << row[0];
  }
}

// The commands for papers on the same run: two seeds show that much.
void compare_and_plot_take(const std::string& run) {
  const CommandResult compared = longhaul({"compare", run, "--metric", "final_loss"});
  EXPECT_EQ(compared.status, 0) << compared.err;
  EXPECT_TRUE(std::regex_search(compared.out, std::regex("  noloco +noloco-presend "))) << compared.out;
  EXPECT_EQ(compared.out.find("one seed shows nothing"), std::string::npos)
      << "the two seeds were not one group";
  const std::string folder = fresh_folder("figures");
  const CommandResult plotted = longhaul({"plot", run, "-o", folder});
  if (plotted.err.find("matplotlib was not found") != std::string::npos) return;
  EXPECT_EQ(plotted.status, 0) << plotted.err;
  EXPECT_EQ(plotted.err, "");
  for (const char* name : {"loss-time", "loss-steps", "loss-bytes", "sync-time", "shares"})
    for (const char* ending : {".svg", ".pdf", ".py", ".json"})
      EXPECT_TRUE(fs::exists(folder + "/" + name + ending)) << name << ending;
}

// Two seeds of every kind of case: trained, with and without exchanges, sent ahead.
TEST(Formats, TheDocumentedOnesAreThoseOfARealRun) {
  const std::string run = run_of(scenario_file("small.json"), {"--set", "seeds=[1,2]"});
  every_file_is_documented(run);
  if (std::system("/usr/bin/python3 -c pass") == 0) example_reads(run);
  compare_and_plot_take(run);
}

}  // namespace longhaul::formats_test
