#include "core/base/files.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>

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

}  // namespace longhaul::files_test
