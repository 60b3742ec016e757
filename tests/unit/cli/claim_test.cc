#include "cli/claim.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "cli/commands.h"
#include "cli/run_outputs.h"
#include "tests/support/files.h"

namespace longhaul::claim_test {

namespace fs = std::filesystem;

class ClaimTest : public testing::Test {
 protected:
  // As a holder on another machine leaves it that renewed its date so long ago.
  void write_from_elsewhere(std::chrono::seconds ago,
                            const std::string& line = "node7 0-other-boot 12 2026-01-31T12:00:00Z\n") {
    write_text(file_, line);
    fs::last_write_time(file_, fs::file_time_type::clock::now() - ago);
  }

  const TemporaryFolder folder_;
  const std::string file_ = folder_.file("cases/a/.claim");
};

TEST_F(ClaimTest, IsHeldByOneAndGoesWithIt) {
  EXPECT_EQ(holder_of(file_), "");
  {
    const auto claim = Claim::take(file_);
    ASSERT_TRUE(claim);
    EXPECT_FALSE(Claim::take(file_));
    const std::string mine = "pid " + std::to_string(getpid()) + " on host " + host_name() + ", since 20";
    EXPECT_EQ(holder_of(file_).rfind(mine, 0), 0u) << holder_of(file_);
    EXPECT_EQ(worker_in(folder_.path), "cases/a: " + holder_of(file_));
  }
  EXPECT_FALSE(fs::exists(file_));
  EXPECT_TRUE(Claim::take(file_));
}

TEST_F(ClaimTest, OfAProcessThatDiedHereItIsFreeAtOnce) {
  const pid_t child = fork();
  if (child == 0) {
    const auto claim = Claim::take(file_);
    _exit(claim ? 0 : 1);  // no destructor runs
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_NE(read_text(file_).find(" " + std::to_string(child) + " "), std::string::npos);
  EXPECT_EQ(holder_of(file_), "");
  const auto claim = Claim::take(file_);
  ASSERT_TRUE(claim);
  EXPECT_NE(holder_of(file_).find("pid " + std::to_string(getpid()) + " "), std::string::npos);
}

// Whoever is killed while it takes a claim leaves no file without its name: such a file is held for three
// minutes.
TEST_F(ClaimTest, AppearsWithItsLine) {
  write_text(file_, "x");  // makes the folder
  fs::remove(file_);
  const int nameless = open(fs::path(file_).parent_path().c_str(), O_TMPFILE | O_RDWR, 0644);
  if (nameless < 0) GTEST_SKIP() << "this file system has no files without names";
  close(nameless);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 3000; ++i)
      if (!Claim::take(file_)) _exit(1);
    _exit(0);
  }
  int seen = 0, empty = 0, status = -1;
  while (waitpid(child, &status, WNOHANG) == 0) {
    const int descriptor = open(file_.c_str(), O_RDONLY);
    if (descriptor < 0) continue;
    char letter = 0;
    ++seen;
    empty += pread(descriptor, &letter, 1, 0) != 1;
    close(descriptor);
  }
  EXPECT_EQ(status, 0);
  EXPECT_GT(seen, 0);
  EXPECT_EQ(empty, 0);
}

TEST_F(ClaimTest, OfAnotherMachineItIsHeldWhileItsDateIsRenewed) {
  write_from_elsewhere(std::chrono::seconds(60));
  EXPECT_EQ(holder_of(file_), "pid 12 on host node7, since 2026-01-31T12:00:00Z");
  EXPECT_FALSE(Claim::take(file_));
  write_from_elsewhere(std::chrono::seconds(200));
  EXPECT_EQ(holder_of(file_), "");
  EXPECT_TRUE(Claim::take(file_));
  // Made by a process that has not written its line yet.
  write_from_elsewhere(std::chrono::seconds(1), "");
  EXPECT_FALSE(Claim::take(file_));
  write_from_elsewhere(std::chrono::seconds(200), "");
  EXPECT_TRUE(Claim::take(file_));
  // What dead workers left is removed.
  write_from_elsewhere(std::chrono::seconds(200));
  EXPECT_EQ(worker_in(folder_.path), "");
  remove_claims(folder_.path);
  EXPECT_FALSE(fs::exists(file_));
  EXPECT_TRUE(fs::exists(folder_.file("cases/a")));
}

// Between the look at scenario.json and that at the other files another process begins the run: the many
// folders make that as long as it likes.
TEST(ChooseFolder, TakesARunThatAnotherProcessBeginsMeanwhile) {
  const TemporaryFolder folder;
  for (int i = 0; i < 2000; ++i) fs::create_directories(folder.file("cases/" + std::to_string(i)));
  Scenario scenario;
  scenario.name = "s";
  scenario.written = {{"name", "s"}};
  RunOptions options;
  options.out = folder.path;
  options.only_cases = {"a"};
  for (int round = 0; round < 60; ++round) {
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(200 * round));
      write_text(folder.file("scenario.json"), scenario.written.dump());
      write_text(folder.file("cases/7/case.json"), "{}");
    });
    EXPECT_NO_THROW(EXPECT_EQ(choose_folder(options, scenario, {}), folder.path)) << round;
    other.join();
    for (const char* file : {"scenario.json", "cases/7/case.json"}) fs::remove(folder.file(file));
  }
  write_text(folder.file("cases/7/case.json"), "{}");
  EXPECT_THROW(choose_folder(options, scenario, {}), InputError) << "no run's";
}

}  // namespace longhaul::claim_test
