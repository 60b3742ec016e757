#include "analysis/case_record.h"

#include <cmath>
#include <filesystem>

#include "analysis/exchange_table.h"
#include "analysis/learning_curve.h"
#include "analysis/record_values.h"
#include "core/base/errors.h"
#include "core/plan/pipeline.h"
#include "core/scenario/metrics.h"
#include "tests/support/faults.h"
#include "tests/unit/analysis/run_fixture.h"

namespace longhaul::case_record_test {

// Numbers of a record at their paths.
void expect(const Json& record, const std::vector<std::pair<const char*, double>>& numbers) {
  for (const auto& [path, number] : numbers)
    EXPECT_DOUBLE_EQ(value_at(record, path).value_or(std::nan("")), number) << path;
}

constexpr const char* kAbsences =
    "replica,left_step,left_s,back_s,source,copied_step,bytes,state_s,joined_s,first_step\n";

class CaseRecord : public CaseOfRun {
 protected:
  CaseRecord() { write_case_metrics(config, case_folder, train_folder); }

  Json record(const std::string& status = "done") {
    return case_record(config, case_folder, train_folder, status, "diloco-1");
  }

  // The lines below its header.
  void write_trace(const std::string& lines = "") {
    write_text(case_folder + "/trace.jsonl", header.dump() + "\n" + lines);
  }

  void write_rollouts() {
    RolloutSpec rollouts;
    rollouts.groups = 2;
    rollouts.accelerators = 2;
    rollouts.batch = 4;
    rollouts.concurrent = 4;
    config.rollouts = rollouts;
    write_text(case_folder + "/versions.csv",
               "version,step,published_s,sent_s,first_s,last_s,bytes\n1,1,2,2,3,3.5,100\n2,2,4,4,5,6,90\n"
               "3,3,8,8,,,10\n");
    write_text(case_folder + "/batches.csv", "step,waited_s\n1,3\n2,0\n");
    write_text(case_folder + "/staleness.csv", "versions,samples\n0,1\n1,6\n2,1\n");
    write_text(case_folder + "/rollouts.csv",
               "group,busy_s,sample_s,clock_s,samples\n0,6,30,10,5\n1,8,25,10,3\n");
    write_text(case_folder + "/sites.csv", "site,bytes_out,bytes_in\nhere,4e9,1e9\nthere,1e9,4e9\n");
    write_text(
        case_folder + "/replicas.csv",
        "replica,compute_s,idle_s,clock_s,bytes_sent,batch_wait_s\n0,5,3,8,100,1.5\n1,5,3.5,8.5,300,2\n");
  }

  Json header = Json::parse(kTraceHeader);
};

TEST_F(CaseRecord, SaysWhatWasRun) {
  config = parse_case(resolved_case("diloco", {{"network.tcp.connections", 8}}));
  const Json json = record();
  EXPECT_EQ(json["case"], "diloco,network.tcp.connections=8");
  EXPECT_EQ(json["status"], "done");
  EXPECT_EQ(json["label"], "diloco");
  EXPECT_EQ(json["swept"], Json({{"network.tcp.connections", 8}}));
  EXPECT_EQ(json["network.tcp.connections"], 8);
  EXPECT_EQ(json["parameters"], Json({{"inner_steps", 2}, {"all_reduce", "ring"}}));
  EXPECT_EQ(json["collective"], "ring");
  EXPECT_EQ(json["model_parameters"], 50);
  // With a dozen swept keys a record moves in memory while they are copied.
  for (int i = 0; i < 12; ++i) config.swept["key" + std::to_string(i)] = i;
  const Json many = record();
  for (const auto& [key, value] : config.swept.items()) EXPECT_EQ(many.value(key, Json()), value) << key;
  EXPECT_EQ(many["swept"], config.swept);
}

// Four steps of one sequence of 8 tokens. Syncs of 1, 1.5, 0.5 and 1 s; the last of all is done 1.5 s and 1 s
// after the start.
TEST_F(CaseRecord, MeasuresSynchronizationWaitAndIdleTime) {
  const Json json = record();
  expect(json, {{"exchanges", 2}, {"bytes_per_sync", 100}, {"bytes_sent_per_replica", 200}});
  expect(json, {{"simulated_time_s", 8.5}, {"compute_time_s", 5}, {"step_time_s", 8.5 / 4}});
  expect(json, {{"bytes_per_token", 200 / (4. * 8)}, {"tokens_per_s", 2 * 4 * 8 / 8.5}});
  expect(json, {{"sync_time_s.mean", (1 + 1.5 + 0.5 + 1) / 4}, {"sync_time_s.p95", 1 + 0.85 * 0.5}});
  expect(json, {{"sync_time_s.max", 1.5}, {"sync_time_s.last", (1.5 + 1) / 2}});
  expect(json, {{"wait_s.mean", (1 + 0 + 1.5 + 0) / 4}, {"wait_s.p50", 0.5}});
  expect(json, {{"idle_fraction.mean", (4 / 8. + 2.5 / 8.5) / 2}, {"idle_fraction.max", 0.5}});
}

// Of `single`: one replica's machine has the whole batch for 8.5 s, or both together have it.
TEST_F(CaseRecord, CountsOneMachineOnce) {
  expect(record(), {{"accelerator_hours", 2 * 8.5 / 3600}});
  config.method.options["machine"] = "one";
  expect(record(), {{"accelerator_hours", 8.5 / 3600}});
  config.method.options["machine"] = "all";
  expect(record(), {{"accelerator_hours", 2 * 8.5 / 3600}});
}

// Pairs of three: one sits out, and the mean of the bytes is over all three.
TEST_F(CaseRecord, CountsWhoSitsOut) {
  EXPECT_FALSE(record().contains("sitting_out"));
  Json resolved = config.resolved;
  resolved["replicas"] = 3;
  config = parse_case(resolved);
  header["replicas"] = 3;
  header["rules"][0].update({{"grouping", "random"}, {"group_size", 2}});
  write_trace(
      "{\"rule\":0,\"step\":2,\"groups\":[[1,2],[0]]}\n{\"rule\":0,\"step\":4,\"groups\":[[1,2],[0]]}\n");
  write_exchanges(case_folder, "2,1,outer,2,3,4,300,2\n2,2,outer,3,3,4,300,3\n");
  // Of the two that exchange.
  expect(record(), {{"sitting_out", 1}, {"bytes_per_sync", 200}, {"wait_s.mean", 0.5}});
}

// Replica 1 is passed by at step 4: its 0 s are nobody's time of a synchronization.
TEST_F(CaseRecord, LeavesOutWhomAnExchangePassedBy) {
  write_exchanges(case_folder,
                  "2,0,outer,2,3,4,100,2\n2,1,outer,3,3,4.5,100,3\n4,0,outer,6,7.5,8,100,6\n"
                  "4,1,outer,7.5,7.5,7.5,0,7.5\n");
  expect(record(), {{"exchanges", 2},
                    {"bytes_per_sync", 300 / 2. / 2},
                    {"sync_time_s.mean", (1 + 1.5 + 0.5) / 3},
                    {"wait_s.mean", (1 + 0 + 1.5) / 3},
                    {"exchange_time_s", (1 + 1.5 + 0.5) / 2}});
}

// At step 4 replica 0 has waited half a second for nobody: that is a wait, and no synchronization of 0 s.
TEST_F(CaseRecord, AWaitForNobodyIsNoSynchronization) {
  write_exchanges(case_folder,
                  "2,0,outer,2,3,4,100,2\n2,1,outer,3,3,4.5,100,3\n4,0,outer,6,6.5,6.5,0,6\n"
                  "4,1,outer,7.5,7.5,8.5,100,7.5\n");
  expect(record(), {{"sync_time_s.mean", (1 + 1.5 + 1) / 3},
                    {"sync_time_s.p50", 1},
                    {"wait_s.mean", (1 + 0 + 0.5 + 0) / 4},
                    {"exposed_s.mean", (2 + 1.5 + 0.5 + 1) / 4},
                    {"wait_time_s", 1.5 / 2}});
}

// What replica 1 sent a synchronizer at step 4 never came back.
TEST_F(CaseRecord, AnAnswerThatNeverCameIsNoSynchronization) {
  header["rules"][0].update({{"kind", "merge"}, {"overlap_steps", 1}});
  header["rules"][0]["answer"] = header["rules"][0]["payload"];
  header["rules"].erase(1);
  write_trace();
  write_exchanges(case_folder,
                  "2,0,outer,2,2,4,100,3\n2,1,outer,3,3,4.5,100,3\n4,0,outer,6,6,7,100,7\n"
                  "4,1,outer,7.5,7.5,7.5,100,7.5\n");
  const Json json = record();
  expect(json, {{"sync_time_s.mean", (2 + 1.5 + 1) / 3}, {"bytes_per_sync", 400 / 2. / 2}});
  expect(json, {{"rules.outer.sync_time_s.mean", (2 + 1.5 + 1) / 3}});
  EXPECT_EQ(json["collective"], "merge");
}

// Two fragments go side by side and are awaited at one point, 4: replica 0 stands still for 2 s, until the
// later one's end, and 1.5 s more at 9. They are under way for 3 s, from 3 to 6. Replica 1's begin one after
// the other: it waits half a second for the first, and both take its 2.5 s.
TEST_F(CaseRecord, WhatGoesSideBySideCountsOnce) {
  header["rules"].erase(0);
  header["rules"].push_back(header["rules"][0]);
  header["rules"][1]["name"] = "second";
  write_trace();
  write_exchanges(case_folder,
                  "2,0,presend,3,3,5,100,4\n2,1,presend,3,4.5,6,100,4\n"
                  "2,0,second,3,3,6,100,4\n2,1,second,3,5,7,100,4\n"
                  "4,0,presend,8,8,10.5,100,9\n4,0,second,8,8,10,100,9\n");
  const Json json = record();
  expect(json, {{"sync_time_s.mean", (3 + 2.5 + 2.5) / 3},
                {"exposed_s.mean", (2 + 3 + 1.5) / 3},
                {"wait_s.mean", 0.5 / 3},
                {"wait_time_s", 0.25},
                {"exchange_time_s", (2 + 2.5 + 1.5) / 2}});
  // 7 % more of the one that is done last: of 3, 2 and 2.5 s.
  EXPECT_NEAR(json["possible"]["exposed_s.mean"][1], (2 + 3 + 1.5 + 0.07 * (3 + 2 + 2.5)) / 3, 1e-12);
  // Each of the rules by itself, as if there were no other.
  expect(json, {{"rules.presend.exposed_s.mean", (1 + 2 + 1.5) / 3},
                {"rules.second.exposed_s.mean", (2 + 3 + 1) / 3}});
  // Exchanges of 13 s in all are under way for 8 s: each part counts as 8 thirteenths.
  write_text(case_folder + "/breakdown.csv",
             "step,replica,exchange,bytes_s,waiting_s\n2,0,presend,2,0\n2,1,presend,1.5,0\n"
             "2,0,second,3,0\n2,1,second,1,1\n4,0,presend,2.5,0\n4,0,second,1,1\n");
  const double share = 8 / 13.;
  EXPECT_NEAR(record()["sync_breakdown_s"]["bytes"], 11 * share / 3, 1e-12);
  EXPECT_NEAR(record()["sync_breakdown_s"]["waiting"], 2 * share / 3, 1e-12);
}

// Of a quorum of one the synchronizer's host has its answer at once: 0 s, and 2 s of the other. A row that is
// awaited when it is ready has no answer. And who sends on and needs nobody exchanges in 0 s.
TEST_F(CaseRecord, WhoNeedsNobodySynchronizesInNoTime) {
  write_exchanges(case_folder, "2,0,outer,2,2,2,100,2\n2,1,outer,3,3,5,100,3\n");
  expect(record(), {{"sync_time_s.mean", 1}, {"wait_s.mean", 0}});
  header["rules"][0].update({{"kind", "merge"}, {"overlap_steps", 1}});
  header["rules"][0]["answer"] = header["rules"][0]["payload"];
  header["rules"].erase(1);
  write_trace();
  write_exchanges(case_folder,
                  "2,0,outer,2,2,2,0,3\n2,1,outer,2,2,4,100,4\n4,0,outer,6,6,6,0,7\n4,1,outer,7,7,7,100,7\n");
  expect(record(), {{"sync_time_s.mean", 2 / 3.}, {"exchanges", 2}});
}

// Syncs of 1, 1.5, 0.5 and 1 s: with 7 % more each stands still for so much longer.
TEST_F(CaseRecord, SaysWhatWaitsMayBe) {
  Json json = record();
  ASSERT_EQ(json["residual"], 0.07);
  const double exposed_s = json["exposed_s"]["mean"];
  EXPECT_NEAR(json["possible"]["exposed_s.mean"][0], exposed_s - 0.07, 1e-12);
  EXPECT_NEAR(json["possible"]["exposed_s.mean"][1], exposed_s + 0.07, 1e-12);
  // All of the idle 4 and 2.5 s may be wrong, which is more than 7 % of what was exchanged.
  EXPECT_NEAR(json["possible"]["idle_fraction.max"][1], 4.28 / 8.28, 1e-12);
  // Hidden behind compute by 0.05 s; and out by 0.02 s.
  header["rules"].erase(0);
  write_trace();
  write_exchanges(case_folder, "2,0,presend,3,3,4,100,4.05\n2,1,presend,3,3,4,100,3.98\n");
  json = record();
  EXPECT_NEAR(json["exposed_s"]["max"], 0.02, 1e-12);
  EXPECT_NEAR(json["possible"]["exposed_s.max"][0], 0, 1e-12);
  EXPECT_NEAR(json["possible"]["exposed_s.max"][1], 0.09, 1e-12);
  EXPECT_NEAR(json["possible"]["exposed_s.p50"][1], (0.02 + 0.09) / 2, 1e-12);
}

// With groups of one each counts for itself.
TEST_F(CaseRecord, MeasuresUntilTheLastOfAGroupIsDone) {
  write_trace("{\"rule\":0,\"step\":2,\"groups\":[[1],[0]]}\n");
  expect(record(), {{"sync_time_s.last", (1.5 + 1 + 1) / 3}});
}

// The same rows are those of one replica's two stages: three micro-batches of 10 tokens, 4 bytes each way.
class CaseRecordOfStages : public CaseRecord {
 protected:
  CaseRecordOfStages() {
    config.replicas = 1;
    config.resolved["pipeline"] =
        resolve(pipeline_options(), {{"stages", 2}, {"microbatches", 3}, {"bytes_per_token", 4}}, "pipeline");
    config.pipeline = parse_pipeline(config.resolved);
    header["replicas"] = 1;
    header["pipeline"] =
        to_json(pipeline_plan(config.pipeline, std::nullopt, header["parameters"], 30, Wire::kBf16));
    for (Json& rule : header["rules"]) rule["stage"] = 0;
    write_trace();
    write_text(case_folder + "/replicas.csv",
               "replica,compute_s,idle_s,clock_s,bytes_sent,stage,bubble_s,stage_wait_s\n"
               "0,5,3,8,100,0,1,1\n1,5,3.5,8.5,300,1,1.7,0.85\n");
  }
};

TEST_F(CaseRecordOfStages, TellsBubblesFromTheNetwork) {
  const Json json = record();
  EXPECT_EQ(json["routing"], "straight");
  expect(json, {{"workers", 2}, {"stages", 2}, {"step_time_s", 8.5 / config.steps()}});
  expect(json, {{"bubble_fraction.mean", (1 / 8. + 0.2) / 2}, {"bubble_fraction.max", 0.2}});
  expect(json, {{"stage_wait_fraction.mean", (1 / 8. + 0.1) / 2}});
  expect(json, {{"bubble_time_s", 1.35}, {"stage_wait_time_s", 0.925}});
  expect(json, {{"stage_bytes_per_step", 3 * 10 * 4 * 2}});
  expect(json, {{"bytes_sent_per_replica", 400}});  // both stages are of the one replica
  EXPECT_FALSE(json.contains("boundary_bits"));     // none are learned
  EXPECT_EQ(StageBytes(case_folder).until(3, 0), 3 * 240);
}

// One of two replicas was gone twice, the second time for good: the recovery is of the one that came back.
TEST_F(CaseRecord, CountsWhatWentIntoTheModel) {
  config.faults = {absence_fault(0, {1, 1}, {})};
  std::filesystem::remove(case_folder + "/trace.jsonl");
  config.workload.steps = 10;
  config.workload.tokens = 100;
  write_text(case_folder + "/replicas.csv",
             "replica,compute_s,idle_s,clock_s,bytes_sent,useful_steps,lost_s,gone_s\n"
             "0,10,2,20,100,8,2,0\n1,8,2,12,100,7,1,5\n");
  write_text(case_folder + "/absences.csv",
             std::string(kAbsences) + "1,3,4,6,0,4,1000,8,9,6\n1,10,17,,-1,0,500,,,0\n");
  write_text(case_folder + "/replay.json",
             R"({"transfers": 1, "events": 1, "simulated_s": 20, "discarded": 3, "thrown_away_steps": 2})");
  const Json json = record();
  expect(json, {{"crashes", 2}, {"participation", 1 - 5 / 40.}, {"lost_fraction", 3 / 18.}});
  expect(json, {{"committed_fraction", 0.8}, {"discarded_exchanges", 3}});
  expect(json, {{"recovery_s.mean", 3}, {"recovery_bytes", 1500}, {"step_time_s", 2}});
  expect(json, {{"useful_steps", 15}, {"useful_steps_per_s", 0.75}, {"goodput_tokens_per_s", 75}});
  // Replica 1 did not take steps 3 to 5, nor 10.
  expect(json, {{"tokens_per_s", 16 * 100 / 20.}, {"bytes_per_token", 100 / (16 / 2. * 100)}});
  // Replica 1 had waited for 3 s where it crashed: 1.5 s of each, in no row of exchanges.
  write_text(case_folder + "/replicas.csv",
             "replica,compute_s,idle_s,clock_s,bytes_sent,useful_steps,lost_s,gone_s,cut_wait_s\n"
             "0,10,2,20,100,8,2,0,0\n1,8,2,12,100,7,1,5,3\n");
  EXPECT_NEAR(record()["wait_time_s"].get<double>() - json["wait_time_s"].get<double>(), 1.5, 1e-12);
}

// What had sent a part when a member was lost, and got no result, is no synchronization of 0 s.
TEST_F(CaseRecord, AnExchangeThatFailedHasNoTime) {
  std::filesystem::remove(case_folder + "/trace.jsonl");
  write_text(case_folder + "/exchanges.csv",
             "step,replica,exchange,ready_s,start_s,done_s,bytes,awaited_s\n"
             "1,0,outer,1,1,4,100,1\n1,1,outer,1,1,4,100,1\n"
             "2,0,outer,5,8,8,40,5\n2,1,outer,5,8,8,0,5\n");
  const Json json = record();
  expect(json, {{"sync_time_s.mean", 3}, {"sync_time_s.p50", 3}, {"wait_s.max", 3}, {"bytes_per_sync", 60}});
}

// Both workers of a replica were gone for 5 of 20 s, and 8 of its 10 steps went into the model.
TEST_F(CaseRecordOfStages, CountsStepsOfReplicasThatCrash) {
  config.faults = {absence_fault(0, {0, 1}, {})};
  config.workload.steps = 10;
  config.workload.tokens = 100;
  write_text(case_folder + "/replicas.csv",
             "replica,compute_s,idle_s,clock_s,bytes_sent,stage,bubble_s,stage_wait_s,useful_steps,lost_s,"
             "gone_s\n0,10,2,20,100,0,1,1,8,2,5\n1,8,2,20,100,1,1,1,8,1,5\n");
  write_text(case_folder + "/absences.csv", std::string(kAbsences) + "0,3,4,9,-1,4,1000,,9,6\n");
  const Json json = record();
  expect(json, {{"participation", 1 - 5 / 20.}, {"lost_fraction", 3 / 18.}});
  expect(json, {{"useful_steps", 8}, {"goodput_tokens_per_s", 8 * 100 / 20.}});
}

// Of rounds of two steps the slow one of two replicas takes one: 4 + 2 steps of 8 tokens, in 8.5 s.
TEST_F(CaseRecord, CountsTheStepsThatAreTaken) {
  EXPECT_FALSE(record().contains("useful_steps"));
  config.method.options["dynamic_steps"] = true;
  config.workload.step_time_factors = {1, 2};
  const Json json = record();
  expect(json, {{"useful_steps", 6}, {"useful_steps_per_s", 6 / 8.5}});
  expect(json, {{"goodput_tokens_per_s", 48 / 8.5}, {"bytes_per_token", 200 / (3 * 8.)}});
  config.workload.step_time_factors = {2, 2};
  EXPECT_FALSE(record().contains("useful_steps"));
}

// Of clocks of 8 and 8.5 s, 2 and 1 s are waits for collectives inside steps.
TEST_F(CaseRecord, TellsWhatIsWaitedForInsideSteps) {
  EXPECT_FALSE(record().contains("inside_wait_time_s"));
  config.parallelism.group_size = 2;
  write_text(case_folder + "/replicas.csv",
             "replica,compute_s,idle_s,clock_s,bytes_sent,inside_wait_s\n0,5,3,8,100,2\n1,5,3.5,8.5,300,1\n");
  const Json json = record();
  expect(json, {{"inside_wait_time_s", 1.5}, {"inside_wait_fraction.max", 2 / 8.}});
  expect(json,
         {{"inside_wait_fraction.mean", (2 / 8. + 1 / 8.5) / 2}, {"step_time_s", 8.5 / config.steps()}});
}

// Two groups of 4 slots and 2 accelerators, 10 s: 6 and 8 s busy; samples of 30 and 25 s in all. Three
// versions, of which the last one came nowhere. Of 8 samples 6 are one version old, one is two.
TEST_F(CaseRecord, HoldsTheRollouts) {
  EXPECT_FALSE(record().contains("refit_time_s"));
  write_rollouts();
  Json json = record();
  expect(json,
         {{"versions", 2}, {"refit_time_s.mean", 1.75}, {"refit_time_s.max", 2}, {"bytes_per_version", 95}});
  expect(json, {{"staleness.mean", 1}, {"staleness.p95", 2}, {"staleness.max", 2}});
  expect(json, {{"batch_wait_s.mean", 1.5}, {"batch_wait_s.max", 3}, {"batch_wait_time_s", 1.75}});
  expect(json, {{"rollout_idle_fraction.mean", 0.3}, {"rollout_idle_fraction.max", 0.4}});
  expect(json, {{"rollout_slot_use", 55 / 80.}, {"samples_per_s", 4. * config.steps() / 10}});
  expect(json, {{"step_time_s", 10. / config.steps()}, {"egress_bytes", 5e9}});
  expect(json, {{"accelerator_hours", 2 * 10 / 3600.}, {"rollout_accelerator_hours", 4 * 10 / 3600.}});
  EXPECT_FALSE(json.contains("cost"));
  config.rollouts->prices = RolloutPrices{36, 18, 0.5};
  expect(record(), {{"cost", 0.2 + 0.2 + 2.5}});
  // A topology without sites: nothing is known to leave one.
  config.rollouts->prices.reset();
  write_text(case_folder + "/sites.csv", "site,bytes_out,bytes_in\n");
  EXPECT_TRUE(record().at("egress_bytes").is_null());
}

// Two workers changed their stages. The two stages' hop: 100 bytes at 4 bits, 10 more for each bit, 30 back,
// of three micro-batches; four steps.
class CaseRecordOfLearnedBits : public CaseRecordOfStages {
 protected:
  CaseRecordOfLearnedBits() {
    config.pipeline.rebalance_every = 1;
    write_text(case_folder + "/moves.csv",
               "step,replica,from_stage,to_stage,source,bytes,begin_s,done_s\n"
               "1,6,0,1,1,5400,3,4\n2,4,0,1,1,5400,5,6\n");
    header["pipeline"]["by_bits"] = {
        {"fewest", 4}, {"forward_bytes", {{100}, {110}, {120}}}, {"backward_bytes", {{30}, {30}, {30}}}};
    write_trace("{\"step\":1,\"bits\":[[6]]}\n{\"step\":3,\"bits\":[[5]]}\n{\"step\":4,\"bits\":[[4]]}\n");
  }
};

TEST_F(CaseRecordOfLearnedBits, CountsMovesAndTakesBytesFromWhatWasUsed) {
  const Json json = record();
  expect(json, {{"stage_moves", 2}, {"state_bytes_moved", 10800}});
  expect(json, {{"stage_bytes_per_step", 3 * (120 + 120 + 110 + 100 + 4 * 30) / 4.}});
  expect(json, {{"boundary_bits.mean", (6 + 6 + 5 + 4) / 4.}, {"boundary_bits.last", 4}});
  const StageBytes bytes(case_folder);
  EXPECT_EQ(bytes.until(0, 0), 0);
  EXPECT_EQ(bytes.until(3, 0), 3 * (120 + 120 + 110 + 3 * 30));
}

// What a claim may name must be a number in the record of a case that trained and reached its target.
TEST_F(CaseRecordOfLearnedBits, HoldsEveryMetric) {
  config.faults = {absence_fault(0, {1, 1}, {})};
  config.workload.tokens = 100;
  config.parallelism.group_size = 2;
  write_rollouts();
  config.rollouts->prices.emplace();
  write_text(
      case_folder + "/replicas.csv",
      "replica,compute_s,idle_s,clock_s,bytes_sent,stage,bubble_s,stage_wait_s,inside_wait_s,batch_wait_s,"
      "useful_steps,lost_s,gone_s\n"
      "0,5,3,8,100,0,1,1,0.5,0,3,1,1\n1,5,3.5,8.5,300,1,1.7,0.85,0,0,4,0,0\n");
  write_text(case_folder + "/absences.csv", std::string(kAbsences) + "0,1,4,6,-1,0,1000,8,9,2\n");
  const Json json = record();
  for (const std::string& path : metric_paths()) EXPECT_TRUE(value_at(json, path)) << path;
}

// Posted at 1.75 s in a backward pass that ends at 2 s, done at 2.5: half a second of it stands out, of which
// one waits for 0.125. Of the other exchange nothing is hidden.
TEST_F(CaseRecord, WhatABackwardPassHidesIsNoExchangeTime) {
  std::filesystem::remove(case_folder + "/trace.jsonl");
  write_text(case_folder + "/exchanges.csv",
             "step,replica,exchange,ready_s,start_s,done_s,bytes,awaited_s\n"
             "1,0,outer,1.75,1.75,2.5,100,2\n1,1,outer,1.75,2.125,2.5,100,2\n"
             "2,0,outer,4.25,4.25,4.75,100,4.25\n2,1,outer,4.25,4.25,4.75,100,4.25\n");
  const Json json = record();
  expect(json, {{"exchange_time_s", (0.5 + 0.375) / 2 + 0.5}, {"wait_time_s", 0.125 / 2}});
  expect(json, {{"sync_time_s.mean", (0.75 + 0.375 + 0.5 + 0.5) / 4}, {"exposed_s.mean", 0.5}});
}

TEST_F(CaseRecord, LeavesOverlappedExchangesOutOfTheSynchronization) {
  const Json before = record();
  write_replay(case_folder, kExchangesWithPresend);
  const Json json = record();
  EXPECT_EQ(json["sync_time_s"], before["sync_time_s"]);
  EXPECT_EQ(json["wait_s"], before["wait_s"]);
  EXPECT_EQ(json["exposed_s"], before["exposed_s"]);
  expect(json, {{"exchanges", 2}, {"bytes_per_sync", 150}});  // 300 bytes in two outer steps
  // It is there before it is needed.
  expect(json, {{"rules.presend.exposed_s.max", 0}, {"rules.presend.sync_time_s.mean", 1}});
  expect(json, {{"exposed_s.mean", (2 + 1.5 + 2 + 1) / 4}});
}

// Nothing blocks: the exchanges that overlap are the method's synchronization. Replica 0 needs the first one
// at 3 s and has it at 5; it needs the second at 7 s, replica 1 posts it at 7.5, and it is there at 8.
TEST_F(CaseRecord, WhereAllOverlapsTheyAreTheSynchronization) {
  write_replay(case_folder,
               "2,0,fragment,2,3,5,100,3\n2,1,fragment,3,3,4.5,100,4\n"
               "4,0,fragment,6,7.5,8,100,7\n4,1,fragment,7.5,7.5,8,100,8.5\n");
  header["steps"] = 6;
  header["rules"].erase(1);
  header["rules"][0].update({{"name", "fragment"}, {"overlap_steps", 1}});
  write_trace();
  const Json json = record();
  expect(json, {{"exchanges", 2}, {"exchange_time_s", (2 + 0.5 + 0.5 + 0) / 2}, {"wait_time_s", 0.5 / 2}});
  expect(json, {{"sync_time_s.mean", (2 + 1.5 + 0.5 + 0.5) / 4}, {"wait_s.mean", 0.5 / 4}});
  expect(json, {{"exposed_s.mean", (2 + 0.5 + 1 + 0) / 4}});
  EXPECT_EQ(json["rules"]["fragment"]["exposed_s"], json["exposed_s"]);
}

// One exchange after another at a step: their sum is the time of its synchronization.
TEST_F(CaseRecord, AddsUpTheExchangesOfAStep) {
  write_replay(
      case_folder,
      "2,0,gather,2,3,3.5,60,2\n2,1,gather,3,3,3.75,60,3\n2,0,scatter,3.5,3.75,4,40,3.5\n"
      "2,1,scatter,3.75,3.75,4.5,40,3.75\n4,0,gather,6,7.5,8,100,6\n4,1,gather,7.5,7.5,8.5,100,7.5\n");
  const Json json = record();
  expect(json, {{"exchanges", 2}, {"bytes_per_sync", 100}, {"sync_time_s.max", 0.75 + 0.75}});
  expect(json, {{"sync_time_s.mean", (0.75 + 1.5 + 0.5 + 1) / 4}});
  expect(json, {{"wait_s.mean", (1.25 + 0 + 1.5 + 0) / 4}});
  expect(json, {{"exchange_time_s", (0.75 + 1.5 + 0.5 + 1) / 2}});
}

TEST_F(CaseRecord, HoldsTheTraining) {
  const Json json = record();
  EXPECT_EQ(json["training"], "diloco-1");
  expect(json, {{"final_loss", 2.5}, {"best_loss", 2.375}, {"final_loss_of_mean", 2.5}});
  expect(json, {{"perplexity", std::exp(2.5)}, {"unigram_entropy", 3.25}, {"weight_spread", 0}});
  expect(json, {{"final_loss_of_ensemble", 2.25}, {"tokens", 64}, {"trained_parameters", 640}});
  expect(json, {{"time_to_target_s", 4.5}});  // loss 3 after the first outer step
  config.train->target_loss = 1.0;
  EXPECT_TRUE(record()["time_to_target_s"].is_null()) << "it is never reached";
  const Case network_only = parse_case(resolved_case("diloco", Json::object(), false));
  const Json untrained = case_record(network_only, case_folder, "", "done", "");
  EXPECT_FALSE(untrained.contains("final_loss"));
  EXPECT_FALSE(untrained.contains("training"));
  expect(untrained, {{"simulated_time_s", 8.5}});
}

// Syncs of 1, 1.5, 0.5 and 1 s, 1 on average; what overlaps with compute is no part of them.
TEST_F(CaseRecord, SaysWhereTheTimeOfASynchronizationGoes) {
  EXPECT_FALSE(record().contains("sync_breakdown_s")) << "of an older replay";
  write_replay(case_folder, kExchangesWithPresend);
  write_text(case_folder + "/breakdown.csv",
             "step,replica,exchange,bytes_s,latency_s,startup_s,sharing_s,congestion_s,waiting_s\n"
             "2,0,outer,0.5,0.25,0.25,0,0,0\n2,1,outer,0.5,0.25,0.25,0.5,0,0\n"
             "2,0,presend,1,0,0,0,0,0\n2,1,presend,1,0,0,0,0,0\n"
             "4,0,outer,0.25,0.25,0,0,0,0\n4,1,outer,0.25,0.25,0,0,0.125,0.375\n");
  const Json parts = {{"bytes", 1.5 / 4},   {"latency", 1. / 4},       {"startup", 0.5 / 4},
                      {"sharing", 0.5 / 4}, {"congestion", 0.125 / 4}, {"waiting", 0.375 / 4}};
  EXPECT_EQ(record()["sync_breakdown_s"], parts);
  EXPECT_FALSE(record("interrupted").contains("sync_breakdown_s")) << "its tables may end at different rows";
  // The parts have the names that the network gives them.
  write_replay(case_folder);
  write_text(case_folder + "/breakdown.csv",
             "step,replica,exchange,bytes_s,latency_s,rest_s,waiting_s\n2,0,outer,1,0,0,0\n"
             "2,1,outer,0.5,0.5,0.5,0\n4,0,outer,0.5,0,0,0\n4,1,outer,1,0,0,0\n");
  EXPECT_EQ(record()["sync_breakdown_s"],
            Json({{"bytes", 0.75}, {"latency", 0.125}, {"rest", 0.125}, {"waiting", 0}}));
}

TEST_F(CaseRecord, AMethodThatNeverExchangesHasNoSynchronizationTime) {
  write_exchanges(case_folder, "");
  const Json json = record();
  EXPECT_TRUE(json["sync_time_s"].is_null());
  expect(json, {{"exchanges", 0}, {"bytes_per_sync", 0}});
}

TEST_F(CaseRecord, OfAnInterruptedCaseHoldsWhatIsThere) {
  std::filesystem::remove(case_folder + "/replicas.csv");
  std::filesystem::remove(case_folder + "/metrics.csv");
  write_exchanges(case_folder, "2,0,outer,2,3,4,100,2\n2,1,outer,3,3,4.5,100,3\n4,0,ou");
  const Json json = record("interrupted");
  EXPECT_EQ(json["status"], "interrupted");
  expect(json, {{"exchanges", 1}, {"final_loss", 2.5}});
  EXPECT_FALSE(json.contains("simulated_time_s"));
  EXPECT_THROW(record("done"), RunError);
}

// What is kept instead of the tables is the record, to the digit; a table that was removed is not needed.
TEST_F(CaseRecord, StaysWhatItWasWhenItsTablesGo) {
  const Json before = record();
  keep_totals(case_folder, before);
  EXPECT_EQ(record(), before);
  for (const char* table : {"exchanges.csv", "breakdown.csv", "steps.csv", "links.csv"})
    EXPECT_FALSE(std::filesystem::exists(case_folder + "/" + table)) << table;
  EXPECT_TRUE(std::filesystem::exists(case_folder + "/replicas.csv"));
  write_text(case_folder + "/record.json", "{\"simulated_time_s\": \"long\"}");
  EXPECT_THROW(record(), DamagedFile);
}

}  // namespace longhaul::case_record_test
