// Methods whose replicas wait for each other for a time only, from end to end: the replay says who met, the
// training follows it.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "tests/integration/recorded_runs.h"
#include "tests/support/csv_table.h"

namespace longhaul::waiting_test {

// Every message takes 0.3 s and a step 0.4 s, of replica r r tenths longer.
class Waiting : public RecordedRuns {
 protected:
  Waiting() : RecordedRuns("waiting") {}

  std::string run(const std::string& out, const Json& methods, bool has_barrier = false, int jobs = 1) {
    Json json = small_scenario();
    json["methods"] = methods;
    json["workload"] = {{"step_time", {{"constant", "400ms"}}}};
    json["workload"]["step_time_factors"] = {{"1", 1.1}, {"2", 1.2}, {"3", 1.3}};
    json["network"] = {{"topology", {{"mesh", {{"rate", "1Gbps"}, {"rtt", "0s"}}}}},
                       {"message_time", {{"mean", "0.3s"}, {"std", "0s"}}},
                       {"barrier", has_barrier}};
    return run_scenario(out, json, jobs);
  }
  static std::string table(const std::string& run, const std::string& label, const char* file) {
    return read_text(case_folder(run, label) + "/" + file);
  }
  // Who took part in the first operation that is over.
  static Json first_group(const std::string& run, const std::string& label) {
    return schedule(run, label).at(1)["group"];
  }
};

// Whoever waits as long as it takes is the method that waits: the same losses, the same times. Around a ring
// that is the one in which nobody begins before all are there: before that it is not known who takes part.
TEST_F(Waiting, AnEndlessGraceIsTheSynchronousForm) {
  const std::string endless = "1000000s";
  const std::string out =
      run("endless",
          {{{"name", "noloco"}, {"inner_steps", 5}},
           {{"name", "noloco"}, {"label", "noloco, grace"}, {"inner_steps", 5}, {"grace", endless}},
           {{"name", "gossip"}, {"inner_steps", 5}},
           {{"name", "gossip"}, {"label", "gossip, grace"}, {"inner_steps", 5}, {"grace", endless}},
           {{"name", "local-sgd"}, {"inner_steps", 5}},
           {{"name", "local-sgd"},
            {"label", "local-sgd, grace"},
            {"inner_steps", 5},
            {"quorum", 1},
            {"grace", endless}}},
          true);
  for (const std::string method : {"noloco", "gossip", "local-sgd"}) {
    EXPECT_EQ(losses(out, method + ", grace"), losses(out, method)) << method;
    for (const char* file : {"exchanges.csv", "steps.csv", "replicas.csv", "links.csv"})
      EXPECT_EQ(table(out, method + ", grace", file), table(out, method, file)) << method << " " << file;
  }
}

// Five steps of 0.4 to 0.52 s. Half a second after the first one three are there; the fourth gets their
// result. Its five steps are lost: 2.6 s. Behind it all have the same weights.
TEST_F(Waiting, WhoIsLateGoesOnFromTheResultOfTheOthers) {
  const Json methods = {{{"name", "diloco"}, {"inner_steps", 5}, {"quorum", 1}, {"grace", "0.5s"}}};
  const std::string out = run("fetched", methods), again = run("fetched-jobs", methods, false, 2);
  EXPECT_EQ(first_group(out, "diloco"), (std::vector<int>{0, 1, 2}));
  const CsvTable loss = read_csv(training(out, "diloco") + "/metrics.csv");
  std::set<std::string> after;
  for (const auto& row : loss.rows)
    if (row[0] == "5" && row[1] == "after" && row[2] != "mean") after.insert(row[loss.column("loss")]);
  EXPECT_EQ(after.size(), 1u);
  const CsvTable totals = read_csv(case_folder(out, "diloco") + "/replicas.csv");
  EXPECT_GE(std::stod(totals.rows[3][totals.column("lost_s")]), 2.6 - 1e-9);
  EXPECT_GT(record(out, "diloco")["lost_fraction"], 0);
  EXPECT_EQ(losses(out, "diloco"), losses(again, "diloco"));
  EXPECT_EQ(table(out, "diloco", "exchanges.csv"), table(again, "diloco", "exchanges.csv"));
}

// Replicas that never arrive together and wait for nobody never meet: they train by themselves, to the bit.
TEST_F(Waiting, WhoNeverMeetsTrainsAlone) {
  const std::string out = run("alone", {{{"name", "independent"}},
                                        {{"name", "noloco"}, {"inner_steps", 5}, {"grace", "0s"}},
                                        {{"name", "gossip"}, {"inner_steps", 5}, {"grace", "0s"}}});
  for (const char* method : {"noloco", "gossip"}) {
    EXPECT_EQ(losses(out, method), losses(out, "independent")) << method;
    EXPECT_EQ(record(out, method)["bytes_sent_per_replica"], 0) << method;
    EXPECT_EQ(record(out, method)["simulated_time_s"], record(out, "independent")["simulated_time_s"]);
  }
}

// Five steps of 0.4 to 0.52 s: half a second after the first one three are there. The fourth goes on with its
// own weights.
TEST_F(Waiting, ADeadlinePassesTheLateOneBy) {
  const std::string out =
      run("deadline", {{{"name", "local-sgd"}, {"inner_steps", 5}, {"quorum", 1}, {"grace", "0.5s"}},
                       {{"name", "independent"}}});
  EXPECT_EQ(first_group(out, "local-sgd"), (std::vector<int>{0, 1, 2}));
  // At step 5, before the average, all are as if alone; behind it the fourth one still is.
  const auto loss_of = [&](const char* method, const std::string& phase, const char* replica) {
    std::istringstream in(losses(out, method));
    for (std::string row; std::getline(in, row);)
      if (row.rfind("5," + phase + "," + replica + ",", 0) == 0)
        return row.substr(row.find(phase) + phase.size());
    return std::string("no row ") + replica;
  };
  EXPECT_EQ(loss_of("local-sgd", "after", "3"), loss_of("independent", "plain", "3"));
  EXPECT_NE(loss_of("local-sgd", "after", "2"), loss_of("independent", "plain", "2"));
}

}  // namespace longhaul::waiting_test
