// Files of a run directory that no run has written: what is read of them is checked where it is read, and
// what is wrong names file, line and key.
#include <gtest/gtest.h>

#include "analysis/exchange_table.h"
#include "analysis/run_files.h"
#include "core/base/errors.h"
#include "tests/support/files.h"

namespace longhaul::hostile_files_test {

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
  EXPECT_EQ(error_of_training(R"({"corpus_hash": null})").substr(0, 40),
            "training.json: corpus_hash: found null; ");
  EXPECT_EQ(error_of_training(R"({"final_loss": "low"})"),
            "training.json: final_loss: found \"low\"; allowed: a number");
  EXPECT_EQ(error_of_training(std::string(100000, '[')),
            "training.json: line 1, column 101: found JSON nested 101 deep; allowed: at most 100");
  EXPECT_EQ(error_of_training("[]").substr(0, 24), "training.json: found [];");
  EXPECT_TRUE(read_json_or_null(folder_.file("nothing.json"), training_declaration()).is_null());
}

TEST_F(HostileFiles, RowsAreOfStepsAndReplicasThatThereAre) {
  EXPECT_EQ(error_of_rows("2,3,outer,1,2,3,100,1"), "");
  EXPECT_EQ(error_of_rows("2,-1,outer,1,2,3,100,1"),
            "exchanges.csv: line 2 has -1 in \"replica\"; allowed: an integer from 0 to 1048575");
  EXPECT_EQ(error_of_rows("-1,0,outer,1,2,3,100,1"),
            "exchanges.csv: line 2 has -1 in \"step\"; allowed: an integer from 0 to 1000000000");
  EXPECT_NE(error_of_rows("2,0,outer,1,2,3,-100,1").find("has -100 in \"bytes\""), std::string::npos);
  const std::string header = R"({"replicas": 2, "steps": 4, "parameters": 10, "rules": [{"name": "outer"}]})";
  EXPECT_EQ(error_of_rows("4,1,outer,1,2,3,100,1", header), "");
  EXPECT_EQ(error_of_rows("4,2,outer,1,2,3,100,1"),
            "exchanges.csv: line 2 has 2 in \"replica\"; allowed: an integer from 0 to 1");
  EXPECT_EQ(error_of_rows("5,1,outer,1,2,3,100,1"),
            "exchanges.csv: line 2 has 5 in \"step\"; allowed: an integer from 0 to 4");
}

TEST_F(HostileFiles, ATraceHeaderIsCheckedBeforeItCounts) {
  const std::string row = "1,0,outer,1,2,3,100,1";
  EXPECT_EQ(error_of_rows(row, R"({"replicas": 1000000000})").substr(0, 41),
            "trace.jsonl: line 1, replicas: found 1000");
  EXPECT_EQ(error_of_rows(row, R"({"rules": [{"name": 3}]})").substr(0, 47),
            "trace.jsonl: line 1, rules[0].name: found 3; al");
  EXPECT_EQ(error_of_rows(row, R"({"rules": [{"overlap_steps": 4294967296}]})").substr(0, 56),
            "trace.jsonl: line 1, rules[0].overlap_steps: found 42949");
  EXPECT_EQ(error_of_rows(row, std::string(200, '{')).substr(0, 28), "trace.jsonl: line 1, column ");
}

}  // namespace longhaul::hostile_files_test
