#include "core/base/csv.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/errors.h"
#include "tests/support/csv_table.h"
#include "tests/support/files.h"

namespace longhaul::csv_test {

TEST(Csv, RoundTripWithCommasAndQuotes) {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.csv");
  CsvWriter out(file, {"case", "x"});
  out.cell("noloco,seed=1").cell(0.1).end_row();
  out.cell("a \"b\"").cell(7).end_row();
  out.flush();
  const CsvTable table = read_csv(file);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0][0], "noloco,seed=1");
  EXPECT_EQ(table.rows[0][1], "0.1");
  EXPECT_EQ(table.rows[1][0], "a \"b\"");
  EXPECT_EQ(table.column("x"), 1u);
  EXPECT_THROW(table.column("y"), RunError);
}

TEST(Csv, AFullDiskIsARunError) {
  if (!std::ifstream("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  CsvWriter out("/dev/full", {"a"});
  EXPECT_THROW(
      {
        out.cell(1).end_row();
        out.flush();
      },
      RunError);
}

}  // namespace longhaul::csv_test
