// Writing files: whole or not at all, and what is no file stays what it is.
#include "analysis/run_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/files.h"

namespace longhaul::run_files_test {

TEST(WriteFile, ReplacesAFileAndLeavesNoOther) {
  const TemporaryFolder folder;
  write_file(folder.file("a"), "one");
  write_file(folder.file("a"), "two");
  EXPECT_EQ(read_text(folder.file("a")), "two");
  EXPECT_FALSE(std::filesystem::exists(folder.file("a.part")));
}

// A pipe, as a shell's >(command) is one: what is written goes through it, and it is a pipe afterwards.
TEST(WriteFile, GoesThroughAPipe) {
  const TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int end = open(pipe.c_str(), O_RDWR);  // so that writing waits for no reader
  ASSERT_GE(end, 0);
  write_file(pipe, "through");
  char text[16] = {};
  EXPECT_EQ(read(end, text, sizeof text), 7);
  EXPECT_STREQ(text, "through");
  close(end);
  struct stat is = {};
  ASSERT_EQ(stat(pipe.c_str(), &is), 0);
  EXPECT_TRUE(S_ISFIFO(is.st_mode));
}

}  // namespace longhaul::run_files_test
