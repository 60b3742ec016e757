// Methods whose replicas wait for each other for a time only, or not for everyone, from end to end: the
// replay says who met or took part, the training follows it. Every message takes 0.3 s.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "tests/integration/recorded_runs.h"
#include "tests/support/csv_table.h"

namespace longhaul::waiting_test {

// A step takes 0.4 s, of replica r r tenths longer.
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

// A step takes 0.4 s, of the last replica twice as long.
Json scenario() {
  Json json = small_scenario();
  json["methods"] = {{{"name", "local-sgd"}, {"inner_steps", 5}, {"quorum", 3}, {"grace", "0.5s"}}};
  json["workload"] = {{"step_time", {{"constant", "400ms"}}}, {"step_time_factors", {{"3", 2}}}};
  json["network"] = {{"topology", {{"mesh", {{"rate", "1Gbps"}, {"rtt", "0s"}}}}},
                     {"message_time", {{"mean", "0.3s"}, {"std", "0s"}}}};
  json["train"]["checkpoint_every"] = 4;
  return json;
}

class QuorumRun : public RecordedRuns {
 protected:
  QuorumRun() : RecordedRuns("quorum") { write_text(folder_ + "/scenario.json", scenario().dump()); }
  CommandResult run(const std::vector<std::string>& more, const std::string& out = "/run") {
    return longhaul({"run", folder_ + "/scenario.json", "--out", folder_ + out, "--quiet"}, more);
  }
  Json record(const std::string& out = "/run") const {
    return RecordedRuns::record(folder_ + out, "local-sgd");
  }
  std::string training(const std::string& out = "/run") const {
    return RecordedRuns::training(folder_ + out, "local-sgd");
  }
};

// Three are ready after 2 s and go on alone after 0.5 s more: a ring of three, 4 · 0.3 s. So they wait 0.5 s
// and synchronize 1.2 s, four times in 22 steps; the fourth passes by.
TEST_F(QuorumRun, TheTrainingFollowsWhoTookPart) {
  const CommandResult result = run({});
  ASSERT_EQ(result.status, 0) << result.err;
  const std::vector<Json> moved = json_lines(training() + "/exchanges.jsonl");
  ASSERT_EQ(moved.size(), 4u);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    EXPECT_EQ(moved[i]["step"], 5 * (i + 1));
    EXPECT_EQ(moved[i]["groups"], Json({{0, 1, 2}}));
  }
  const Json of_case = record();
  EXPECT_NEAR(of_case["sync_time_s"]["mean"].get<double>(), 3 * 1.2 / 4, 1e-9)
      << "nothing for the one passed by";
  EXPECT_NEAR(of_case["wait_s"]["mean"].get<double>(), 3 * 0.5 / 4, 1e-9);
  EXPECT_NEAR(of_case["exposed_s"]["mean"].get<double>(), 3 * 1.7 / 4, 1e-9);
}

// Replayed and trained apart, and resumed in between, it is the same run.
TEST_F(QuorumRun, InPartsIsTheSameRun) {
  ASSERT_EQ(run({}).status, 0);
  expect_refused(run({"--only", "train"}, "/parts"), {"--only replay before it"});
  run({"--only", "replay", "--resume"}, "/parts");
  ASSERT_EQ(run({"--only", "train", "--resume"}, "/parts").status, 0);
  ASSERT_EQ(run({"--resume"}, "/parts").status, 0);
  EXPECT_EQ(read_text(training("/parts") + "/metrics.csv"), read_text(training() + "/metrics.csv"));
  EXPECT_EQ(record("/parts")["simulated_time_s"], record()["simulated_time_s"]);
  EXPECT_EQ(record("/parts")["status"], "done");
}

TEST_F(QuorumRun, OtherTimesAreAnotherTraining) {
  ASSERT_EQ(run({}).status, 0);
  ASSERT_EQ(run({"--set", "workload.step_time_factors={}"}, "/equal").status, 0);
  EXPECT_NE(training().substr(training().rfind('/')),
            training("/equal").substr(training("/equal").rfind('/')));
  EXPECT_EQ(schedule(folder_ + "/equal", "local-sgd").at(1)["group"], (std::vector<int>{0, 1, 2, 3}));
  EXPECT_NE(record("/equal")["final_loss"], record()["final_loss"]);
}

TEST_F(QuorumRun, AloneTheTrainerAsksForTheJournal) {
  ASSERT_EQ(run({}).status, 0);
  const std::string out = folder_ + "/alone", case_file = training() + "/case.json";
  expect_refused(run_command_line("longhaul-train", {"--case", case_file, "--out", out, "--quiet"}),
                 {"--journal"});
  const CommandResult with =
      run_command_line("longhaul-train", {"--case", case_file, "--out", out, "--quiet", "--journal",
                                          folder_ + "/run/cases/local-sgd/journal.jsonl"});
  EXPECT_EQ(with.status, 0) << with.err;
  EXPECT_EQ(read_text(out + "/metrics.csv"), read_text(training() + "/metrics.csv"));
}

}  // namespace longhaul::waiting_test
