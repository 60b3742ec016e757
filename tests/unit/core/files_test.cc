#include "core/base/files.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/support/files.h"

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
  for (const std::string& name : {std::string(), std::string("."), std::string(".."), std::string("../a"),
                                  std::string("/etc"), std::string("a/b"), std::string("a\0b", 3)})
    EXPECT_FALSE(is_file_name(name)) << name;
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

}  // namespace longhaul::files_test
