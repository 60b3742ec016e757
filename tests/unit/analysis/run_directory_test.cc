// Run directories and what is read of them, also of files that no run has written: each is checked where it
// is read, and what is wrong names file, line and key.
#include "analysis/runs/run_directory.h"

#include <gtest/gtest.h>

#include "analysis/exchange_table.h"
#include "analysis/run_declarations.h"
#include "analysis/run_files.h"
#include "core/base/errors.h"
#include "tests/support/files.h"
#include "tests/support/said.h"

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
  const Json summary = read_summary(run);
  EXPECT_EQ(Json({summary["format"], summary["scenario"], summary["claims"]}),
            Json({1, "small", Json::array()}));
  ASSERT_EQ(opened.problems.size(), 4u);
  const char* said[] = {"is no run directory", "newer Longhaul (format 2", "is damaged", "has no cases yet"};
  const char* of[] = {"none", "newer", "torn", "empty"};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_SAYS(opened.problems[i], folder(of[i]));
    EXPECT_SAYS(opened.problems[i], said[i]);
  }
  const InputError error = thrown_by([&] { open_runs({folder("none"), folder("empty")}); });
  EXPECT_SAYS(error.what(), "none: is no run directory");
  EXPECT_SAYS(error.what(), "empty: has no cases");
}

// Cases and trainings are folders of the run: a name that leads out of it is of somebody else's making. Two
// are no records at all.
TEST_F(RunDirectoryTest, RefusesNamesThatLeadOutOfTheRun) {
  write_text(
      folder("run") + "/summary.json",
      R"({"format": 1, "scenario": "s", "cases": [{"case": "../../../etc"}, {"case": ".."}, {"case": "a/b"},
                 {"case": ""}, {"case": "a", "training": "../b"}, {"case": "kept", "training": ""}, 3,
                 {"label": "b"}]})");
  const RunDirectories opened = open_runs({folder("run")});
  ASSERT_EQ(opened.runs[0].records.size(), 1u);
  EXPECT_EQ(opened.runs[0].records[0]["case"], "kept");
  ASSERT_EQ(opened.problems.size(), 1u);
  EXPECT_SAYS(
      opened.problems[0],
      "7 of its cases are no records (cases[0].case: found \"../../../etc\"; allowed: the name of a folder");
}

// Twice the same seeds would look like twice as many.
TEST_F(RunDirectoryTest, AFolderGivenTwiceCountsOnceAndKnowsItsFiles) {
  const std::string path = good("run");
  const RunDirectories opened = open_runs({path, path + "/", temporary.path + "/./run"});
  ASSERT_EQ(opened.runs.size(), 1u);
  EXPECT_EQ(opened.problems.size(), 2u);
  const RunDirectory& run = opened.runs[0];
  EXPECT_EQ(run.case_folder(run.records[0]), path + "/cases/a");
  EXPECT_EQ(run.train_folder(run.records[0]), path + "/train/diloco-1");
  EXPECT_EQ(run.train_folder({{"case", "b"}}), "");
}

// Case names hold commas and are quoted; a case without a table adds no rows, a torn line none either.
TEST(Summary, JoinsTheTablesInTheOrderOfTheCases) {
  TemporaryFolder folder;
  write_text(folder.path + "/cases/b,x=1/links.csv",
             "link,direction,bytes,busy_s\nr0-core,forward,1,0.5\nr0-co");
  write_text(folder.path + "/cases/a/links.csv", "link,direction,bytes,busy_s\nr1-core,backward,2,0.25\n");
  join_tables(folder.path, {"b,x=1", "missing", "a"});
  EXPECT_EQ(read_text(folder.path + "/links.csv"),
            "case,link,direction,bytes,busy_s\n\"b,x=1\",r0-core,forward,1,0.5\na,r1-core,backward,2,0.25\n");
  EXPECT_EQ(read_text(folder.path + "/metrics.csv"),
            "case,step,phase,replica,simulated_s,loss,loss_of_mean,weight_spread,bytes_sent\n");
}

class HostileFiles : public testing::Test {
 protected:
  // What is wrong with a file of that text; "" where it is taken.
  template <typename Read>
  std::string error(const std::string& name, const std::string& text, const Read& read) {
    write_text(folder_.file(name), text);
    try {
      read(folder_.file(name));
    } catch (const DamagedFile& error) {
      const std::string what = error.what(), place = folder_.path + "/";
      return what.rfind(place, 0) == 0 ? what.substr(place.size()) : what;
    }
    return "";
  }

  std::string error_of_training(const std::string& text) {
    return error("training.json", text,
                 [](const std::string& file) { read_json_or_null(file, training_declaration()); });
  }

  std::string error_of_rows(const std::string& rows, const std::string& header = "") {
    if (!header.empty()) write_text(folder_.file("trace.jsonl"), header + "\n");
    return error("exchanges.csv",
                 "step,replica,exchange,ready_s,start_s,done_s,bytes,awaited_s\n" + rows + "\n",
                 [&](const std::string&) {
                   for (ExchangeTable table(folder_.path); table.next();) table.bytes();
                 });
  }

  TemporaryFolder folder_;
};

TEST_F(HostileFiles, ATrainingSaysNumbers) {
  EXPECT_EQ(error_of_training(R"({"final_loss": 2.5, "loss_of_tomorrow": []})"), "");
  EXPECT_EQ(error_of_training(R"({"final_loss": null})"), "") << "it was not finite";
  EXPECT_SAYS(error_of_training(R"({"corpus_hash": null})"), "training.json: corpus_hash: found null; ");
  EXPECT_EQ(error_of_training(R"({"final_loss": "low"})"),
            "training.json: final_loss: found \"low\"; allowed: a number");
  EXPECT_EQ(error_of_training(std::string(100000, '[')),
            "training.json: line 1, column 101: found JSON nested 101 deep; allowed: at most 100");
  EXPECT_EQ(error_of_training("[]").substr(0, 24), "training.json: found [];");
  EXPECT_TRUE(read_json_or_null(folder_.file("nothing.json"), training_declaration()).is_null());
}

TEST_F(HostileFiles, RowsAreOfStepsAndReplicasThatThereAre) {
  EXPECT_EQ(error_of_rows("2,3,outer,1,2,3,100,1"), "");
  const auto refused = [&](const char* row, const std::string& words) {
    EXPECT_EQ(error_of_rows(row), "exchanges.csv: line 2 has " + words);
  };
  refused("2,-1,outer,1,2,3,100,1", "-1 in \"replica\"; allowed: an integer from 0 to 1048575");
  refused("-1,0,outer,1,2,3,100,1", "-1 in \"step\"; allowed: an integer from 0 to 1000000000");
  EXPECT_SAYS(error_of_rows("2,0,outer,1,2,3,-100,1"), "has -100 in \"bytes\"");
  const std::string header = R"({"replicas": 2, "steps": 4, "parameters": 10, "rules": [{"name": "outer"}]})";
  EXPECT_EQ(error_of_rows("4,1,outer,1,2,3,100,1", header), "");
  refused("4,2,outer,1,2,3,100,1", "2 in \"replica\"; allowed: an integer from 0 to 1");
  refused("5,1,outer,1,2,3,100,1", "5 in \"step\"; allowed: an integer from 0 to 4");
}

TEST_F(HostileFiles, ATraceHeaderIsCheckedBeforeItCounts) {
  for (const auto& [header, said] : std::vector<std::pair<std::string, std::string>>{
           {R"({"replicas": 1000000000})", "replicas: found 1000"},
           {R"({"rules": [{"name": 3}]})", "rules[0].name: found 3; allowed"},
           {R"({"rules": [{"overlap_steps": 4294967296}]})", "rules[0].overlap_steps: found 42949"},
           {std::string(200, '{'), "column "}})
    EXPECT_SAYS(error_of_rows("1,0,outer,1,2,3,100,1", header), "trace.jsonl: line 1, " + said);
}

}  // namespace longhaul::run_directory_test
