// A method that does not wait for everyone, from end to end: the replay says who took part, the training
// follows it. Every message takes 0.3 s and a step 0.4 s, of the last replica twice as long.
#include <gtest/gtest.h>

#include "tests/integration/recorded_runs.h"

namespace longhaul::quorum_test {

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

}  // namespace longhaul::quorum_test
