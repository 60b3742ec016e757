#include "analysis/runs/run_directory.h"

#include "analysis/run_files.h"
#include "tests/support/said.h"
#include "tests/unit/analysis/run_fixture.h"

namespace longhaul::run_directory_test {

class RunDirectoryTest : public testing::Test {
 protected:
  std::string folder(const std::string& name) { return temporary.path + "/" + name; }

  std::string good(const std::string& name) {
    write_text(folder(name) + "/done", "");
    write_summary(folder(name), "small", {{{"case", "a"}, {"status", "done"}, {"training", "diloco-1"}}});
    return folder(name);
  }

  TemporaryFolder temporary;
};

TEST_F(RunDirectoryTest, NamesEachThatCannotBeReadAndKeepsTheOthers) {
  const std::string run = good("run");
  write_text(folder("newer") + "/summary.json", R"({"format": 2, "cases": []})");
  write_text(folder("torn") + "/summary.json", R"({"format": 1, "cas)");
  write_text(folder("empty") + "/summary.json", R"({"format": 1, "scenario": "s", "cases": []})");
  const RunDirectories opened =
      open_runs({folder("none"), folder("newer"), folder("torn"), run, folder("empty")});
  ASSERT_EQ(opened.runs.size(), 2u);
  EXPECT_EQ(opened.runs[0].folder, run);
  EXPECT_EQ(opened.runs[0].records.size(), 1u);
  ASSERT_EQ(opened.problems.size(), 4u);
  const char* said[] = {"is no run directory", "newer Longhaul (format 2", "is damaged", "has no cases yet"};
  const char* of[] = {"none", "newer", "torn", "empty"};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_SAYS(opened.problems[i], folder(of[i]));
    EXPECT_SAYS(opened.problems[i], said[i]);
  }
}

// Cases and trainings are folders of the run: a name that leads out of it is of somebody else's making.
TEST_F(RunDirectoryTest, RefusesNamesThatLeadOutOfTheRun) {
  std::filesystem::create_directories(folder("run"));
  write_summary(folder("run"), "small",
                {{{"case", "../../../etc"}},
                 {{"case", ".."}},
                 {{"case", "a/b"}},
                 {{"case", ""}},
                 {{"case", "a"}, {"training", "../b"}},
                 {{"case", "kept"}, {"training", ""}}});
  const RunDirectories opened = open_runs({folder("run")});
  ASSERT_EQ(opened.runs[0].records.size(), 1u);
  EXPECT_EQ(opened.runs[0].records[0]["case"], "kept");
  ASSERT_EQ(opened.problems.size(), 1u);
  EXPECT_SAYS(
      opened.problems[0],
      "5 of its cases are no records (cases[0].case: found \"../../../etc\"; allowed: the name of a folder");
}

TEST_F(RunDirectoryTest, IsAnErrorWhereNoneIsLeft) {
  write_text(folder("empty") + "/summary.json", R"({"format": 1, "scenario": "s", "cases": []})");
  const InputError error = thrown_by([&] { open_runs({folder("none"), folder("empty")}); });
  EXPECT_SAYS(error.what(), "none: is no run directory");
  EXPECT_SAYS(error.what(), "empty: has no cases");
}

// Twice the same seeds would look like twice as many.
TEST_F(RunDirectoryTest, AFolderGivenTwiceCountsOnce) {
  const std::string run = good("run");
  const RunDirectories opened = open_runs({run, run + "/", temporary.path + "/./run"});
  EXPECT_EQ(opened.runs.size(), 1u);
  EXPECT_EQ(opened.problems.size(), 2u);
}

TEST_F(RunDirectoryTest, LeavesOutWhatIsNoRecord) {
  write_text(folder("run") + "/summary.json",
             R"({"format": 1, "scenario": "s", "cases": [{"case": "a"}, 3, {"label": "b"}]})");
  const RunDirectories opened = open_runs({folder("run")});
  EXPECT_EQ(opened.runs[0].records.size(), 1u);
  ASSERT_EQ(opened.problems.size(), 1u);
  EXPECT_SAYS(opened.problems[0], "2 of its cases are no records");
}

TEST_F(RunDirectoryTest, KnowsWhereTheFilesOfACaseAre) {
  const RunDirectory run = open_runs({good("run")}).runs[0];
  EXPECT_EQ(run.case_folder(run.records[0]), folder("run") + "/cases/a");
  EXPECT_EQ(run.train_folder(run.records[0]), folder("run") + "/train/diloco-1");
  EXPECT_EQ(run.train_folder({{"case", "b"}}), "");
}

}  // namespace longhaul::run_directory_test
