#include "trainer/training_files.h"

#include <gtest/gtest.h>

#include "tests/support/csv_table.h"
#include "tests/support/files.h"

namespace longhaul::training_files_test {

// Wall times differ from run to run. The sizes, which checkpoints hold, do not.
TEST(TrainingFiles, ATableOfWallTimesIsAsLongWhateverTheyAre) {
  const TemporaryFolder folder;
  const auto size_of = [&](const std::string& name, const std::vector<double>& seconds) {
    TrainingFiles files(folder.file(name));
    files.begin();
    for (int step = 1; step <= 12; ++step) files.write_step_times(step, {0, 1}, seconds);
    return files.save().at("step_times.csv").get<int>();
  };
  const int size = size_of("a", {0, 0.25});
  EXPECT_EQ(size_of("b", {1.0 / 3, 1e-9}), size);
  EXPECT_EQ(size_of("c", {12345.678901234567, 0.1}), size);
  const CsvTable read = read_csv(folder.file("c") + "/step_times.csv");
  EXPECT_NEAR(std::stod(read.rows.at(0).at(read.column("compute_s"))), 12345.678901234567, 1e-5);
}

}  // namespace longhaul::training_files_test
