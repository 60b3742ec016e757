// Trainings of replicas that go and come back, against the reference of reference_replicas.h.
#include <map>
#include <set>

#include "tests/unit/trainer/reference_replicas.h"

namespace longhaul::absences_test {

const Json kDiloco = {{"name", "diloco"}, {"inner_steps", 3}, {"outer_lr", 0.5}, {"outer_momentum", 0.8}};

using Members = std::vector<int>;
const Members kAll = {0, 1, 2};

// Who took part in operation `rule` of a step; of the others everyone who computed it.
using Groups = std::map<std::pair<int, int>, std::vector<Members>>;

Groups one_a_step(const std::map<int, Members>& group_of) {
  Groups groups;
  for (const auto& [step, group] : group_of) groups[{0, step}] = {group};
  return groups;
}

Schedule schedule_of(const Case& config, const std::vector<Absence>& rows, const Groups& groups) {
  Schedule schedule;
  schedule.has_all = true;
  schedule.groups = groups;
  schedule.absences = Absences(rows, plan_context(config), keeps_replicas_alike(trained_plan_of(config)));
  return schedule;
}
struct Followed : TrainedReference {
  Followed(const Json& scenario, const std::vector<Absence>& rows, const Groups& groups = {})
      : TrainedReference(scenario) {
    schedule = schedule_of(config, rows, groups);
  }

  void steps(const Members& computing, int first, int last) {
    for (int number = first; number <= last; ++number) step(computing, number);
  }
};

// Replica 1 was ahead of 0, whose rows after step 4 it gets at the end of its own step 7; replica 2 copies
// what 1 has become after step 9, and does not come back from its second absence.
TEST(TrainedAbsences, RowsAreThoseOfTheSource) {
  Followed reference(scenario_of({{"name", "independent"}}),
                     {{1, 8, 7, 0, 4, 9}, {2, 3, 2, 1, 9, 10}, {2, 12, 11, -1, 0, 0}});
  reference.steps(kAll, 1, 2);
  reference.steps({0, 1}, 3, 4);
  const Replica after_4 = reference.replicas[0];
  reference.steps({0, 1}, 5, 7);
  reference.replicas[1] = after_4;
  reference.step({0}, 8);
  reference.step({0, 1}, 9);
  reference.replicas[2] = reference.replicas[1];
  reference.steps(kAll, 10, 11);
  reference.step({0, 1}, 12);
  EXPECT_EQ(reference.expect_training().summary["tokens"], (2 * 3 + 5 * 2 + 1 + 2 + 2 * 3 + 2) * 2 * 12)
      << "steps that were taken";
}

// An evaluation is of those who are there: at step 4 of 0 and 1, at step 8 of 0 alone.
TEST(TrainedAbsences, ThoseWhoAreGoneAreNotEvaluated) {
  const auto& [folder, config] = CaseInFolder(scenario_of({{"name", "independent"}}));
  follow(config, schedule_of(config, {{2, 3, 2, 0, 9, 10}, {1, 9, 7, 0, 10, 11}}, {}), folder);
  std::map<std::string, std::vector<std::string>> evaluated;
  std::map<std::pair<std::string, std::string>, double> losses;
  for (const auto& row : read_csv(folder.file("out/metrics.csv")).rows) {
    evaluated[row[0]].push_back(row[2]);
    losses[{row[0], row[2]}] = std::stod(row[3]);
  }
  using Words = std::vector<std::string>;
  EXPECT_EQ(evaluated["4"], (Words{"0", "1", "mean"}));
  EXPECT_EQ(evaluated["8"], (Words{"0", "mean"})) << "1 went in the exchange of the step";
  EXPECT_EQ(evaluated["12"], (Words{"0", "1", "2", "mean"}));
  EXPECT_DOUBLE_EQ((losses[{"4", "mean"}]), (losses[{"4", "0"}] + losses[{"4", "1"}]) / 2);
}

// Replica 1 misses steps 6 and 7; the step whose exchange fails moves nobody.
TEST(TrainedAbsences, GradientsOfThoseWhoWereThere) {
  Json scenario = scenario_of({{"name", "ddp"}});
  scenario["recovery"] = {{"on_failure", "discard"}};
  scenario["faults"] = {{{"kind", "crash"}, {"replicas", "1"}, {"at", "1s"}}};
  std::map<int, Members> group_of;
  for (int step = 1; step <= kSteps; ++step) group_of[step] = step == 6 || step == 7 ? Members{0, 2} : kAll;
  group_of[4] = {};
  Followed reference(scenario, {{1, 6, 5, 0, 7, 8}}, one_a_step(group_of));
  for (const auto& [step, group] : group_of) {
    reference.adam_of(group, group, step);
    if (step == 7) reference.replicas[1] = reference.replicas[0];
  }
  EXPECT_EQ(reference.replicas[1].updates, kSteps - 1) << "one step was thrown away";
  reference.expect_training();
}

// H = 3. Replica 2 is not in the round of step 6, and begins with what 0 has after it.
TEST(TrainedAbsences, OuterStepsOfThoseWhoWereThere) {
  const std::map<int, Members> group_of = {{3, kAll}, {6, {0, 1}}, {9, kAll}, {12, {1, 2}}};
  Followed reference(scenario_of(kDiloco), {{2, 5, 4, 0, 6, 7}, {0, 13, 11, -1, 0, 0}}, one_a_step(group_of));
  for (int step = 1; step <= kSteps; ++step) {
    reference.step(step == 5 || step == 6 ? Members{0, 1} : kAll, step);
    if (group_of.count(step)) reference.outer_of(group_of.at(step), group_of.at(step), 0.5f, 0.8f);
    if (step == 6) reference.replicas[2] = reference.replicas[0];
  }
  reference.expect_training();
}

// Stages: replica 2 goes in the round of step 6, of which its stage 1 has contributed and its stage 0 has
// not; it begins with what 0 has after step 7.
TEST(TrainedAbsences, StagesOfThoseWhoWereThere) {
  Json scenario = scenario_of(kDiloco);
  scenario["pipeline"] = {{"stages", 2}, {"microbatches", 1}};
  Groups groups;
  for (const int step : {3, 6, 9, 12})
    for (const int stage : {0, 1}) groups[{stage, step}] = {step == 6 && stage == 0 ? Members{0, 1} : kAll};
  Followed reference(scenario, {{2, 7, 5, 0, 7, 8}}, groups);
  for (int step = 1; step <= kSteps; ++step) {
    reference.step(step == 7 ? Members{0, 1} : kAll, step);
    if (step == 7) reference.replicas[2] = reference.replicas[0];
    if (step % 3 != 0) continue;
    Row mean = reference.mean_delta(kAll);
    const Row of_two = reference.mean_delta({0, 1});
    if (step == 6)
      for (const ColumnRange& range : trained_plan_of(reference.config).pipeline.columns_of(0))
        std::copy(of_two.begin() + range.begin, of_two.begin() + range.end, mean.begin() + range.begin);
    for (const int replica : kAll) reference.outer(replica, mean, 0.5f, 0.8f);
  }
  reference.expect_training();
}

// Eager updates: what was posted at 3, 6 and 9 is due a round later. Replica 2 is away from 5 to 7 and
// inherits what 0 posted at 6; replica 1 posted at 9, goes, and inherits what 2 did.
TEST(TrainedAbsences, WhatIsUnderWayIsInherited) {
  Json method = kDiloco;
  method["name"] = "eager-diloco";
  std::map<int, Members> posted_by = {{3, kAll}, {6, {0, 1}}, {9, kAll}};
  Followed reference(scenario_of(method), {{2, 5, 4, 0, 7, 8}, {1, 10, 9, 2, 10, 11}}, one_a_step(posted_by));
  posted_by[0] = kAll;                   // zeros
  std::map<int, std::vector<Row>> sent;  // by post step, [replica]
  sent[0].assign(kReplicas, Row(reference.replicas[0].phi.size()));
  // By step that it is due at: whose message is each replica's.
  const std::map<int, Members> own = {{3, kAll}, {6, kAll}, {9, {0, 1, 0}}, {12, {0, 2, 2}}};
  for (int step = 1; step <= kSteps; ++step) {
    Members computing = {0};
    if (step != 10) computing.push_back(1);
    if (step < 5 || step > 7) computing.push_back(2);
    reference.step(computing, step);
    if (posted_by.count(step))
      for (const int replica : kAll) sent[step].push_back(reference.delta(replica));
    if (own.count(step)) {
      const Members& members = posted_by.at(step - 3);
      std::vector<Row> deltas;
      for (const int member : members) deltas.push_back(sent[step - 3][as_index(member)]);
      const Row mean = Reference::mean(deltas);
      for (const int replica : computing) {
        Row eager = reference.delta(replica);
        const Row& mine = sent[step - 3][as_index(own.at(step)[as_index(replica)])];
        for (std::size_t i = 0; i < eager.size(); ++i)
          eager[i] = mean[i] + (eager[i] - mine[i]) / static_cast<float>(members.size());
        reference.outer(replica, eager, 0.5f, 0.8f);
      }
    }
    if (step == 7) reference.replicas[2] = reference.replicas[0];
    if (step == 10) reference.replicas[1] = reference.replicas[2];
  }
  reference.expect_training();
}

// Merges of a synchronizer, H = 4. Replica 1 is gone when the merge that it contributed to at step 4 is back,
// and begins at step 8 with what 0 had after step 7; replica 2, whose contribution was merged alone, does not
// take step 6 and goes on with its own. At step 8 four steps are in the Δ of 0 since its last contribution;
// four in that of 1, three of them taken by 0; three in that of 2. At step 12 replica 1 is gone.
TEST(TrainedAbsences, MergesCountTheStepsThatWereTaken) {
  Followed reference(scenario_of(Json::parse(R"({"name": "decoupled-diloco", "inner_steps": 4, "fragments": 1,
                         "overlap": 1, "merge": "mean", "codec": "wire", "quorum": 1, "grace": "1s",
                         "outer_lr": 0.5, "outer_momentum": 0.8, "mixing": 0.25})")),
                     {{2, 6, 5, -1, 0, 7}, {1, 6, 5, 0, 7, 8}, {1, 12, 11, -1, 0, 0}});
  reference.schedule.merges = {
      {0, 0, {{0, 4, 6}, {1, 4, 0}}}, {0, 1, {{2, 4, 5}}}, {0, 2, {{0, 8, 9}, {1, 8, 10}, {2, 8, 9}}}};

  Row phi = reference.replicas[0].phi, momentum(phi.size());
  const auto merged = [&](const std::vector<std::pair<double, Row>>& weighted) {
    for (std::size_t i = 0; i < phi.size(); ++i) {
      double mean = 0;
      for (const auto& [weight, delta] : weighted) mean += weight * double{delta[i]};
      momentum[i] = static_cast<float>(0.8 * double{momentum[i]} + mean);
      phi[i] = static_cast<float>(double{phi[i]} + 0.5 * (mean + 0.8 * double{momentum[i]}));
    }
    return phi;
  };
  const auto take_up = [&](int replica, const Row& result) {
    Replica& of = reference.replicas[as_index(replica)];
    for (std::size_t i = 0; i < result.size(); ++i) of.weights[i] = 0.25F * of.weights[i] + 0.75F * result[i];
    of.phi = result;
  };
  reference.steps(kAll, 1, 4);
  const Row first = merged({{0.5, reference.delta(0)}, {0.5, reference.delta(1)}});
  const Row second = merged({{1, reference.delta(2)}});
  reference.steps({0}, 5, 6);
  take_up(0, first);
  reference.step({0}, 7);
  reference.replicas[1] = reference.replicas[0];
  reference.step({2}, 5);
  take_up(2, second);
  reference.step({2}, 7);
  reference.step(kAll, 8);
  const Row third =
      merged({{4. / 11, reference.delta(0)}, {4. / 11, reference.delta(1)}, {3. / 11, reference.delta(2)}});
  reference.step(kAll, 9);
  for (const int replica : {0, 2}) take_up(replica, third);
  reference.steps({0, 2}, 10, 12);
  reference.step({1}, 10);
  take_up(1, third);
  reference.step({1}, 11);
  const Trained found = reference.expect_training();
  EXPECT_EQ(found.summary["tokens"], (12 + 9 + 11) * 2 * 12) << "steps that were taken";
  std::map<std::string, std::set<std::string>> evaluated;
  for (const auto& row : table_of(found.metrics).rows) evaluated[row[0]].insert(row[2]);
  using Words = std::set<std::string>;
  EXPECT_EQ(evaluated["8"], (Words{"0", "1", "2", "mean"}));
  EXPECT_EQ(evaluated["12"], (Words{"0", "2", "mean"}));
}

// Replica 1 goes before its first step and begins with what 0 had then. Replica 2 comes back twice to the
// same step, the second time with what 1 had from 0: each is read when its source has come to that step.
TEST(TrainedAbsences, CopiesOfCopiesAreReadInTheirOrder) {
  Followed reference(scenario_of(Json::parse(R"({"name": "decoupled-diloco", "inner_steps": 4, "fragments": 1,
                         "overlap": 1, "merge": "mean"})")),
                     {{1, 1, 0, 0, 0, 1}, {2, 5, 4, 0, 5, 6}, {1, 6, 5, 0, 5, 6}, {2, 6, 5, 1, 5, 6}});
  reference.schedule.merges = {{0, 0, {{0, 4, 0}, {1, 4, 0}, {2, 4, 0}}}};
  reference.steps(kAll, 1, 4);
  reference.step({0, 1}, 5);
  reference.replicas[1] = reference.replicas[2] = reference.replicas[0];
  reference.steps(kAll, 6, kSteps);
  reference.expect_training();
}

// φ sent ahead is the φ of the exchange, but where a replica came back in between: it sends its new one.
TEST(TrainedAbsences, WhatWasSentAheadInAnEarlierLifeDoesNotCount) {
  const auto followed = [](const char* pattern) {
    Json scenario = scenario_of({{"name", "noloco"}, {"inner_steps", 3}, {"pattern", pattern}});
    scenario["replicas"] = 4;
    const auto& [folder, config] = CaseInFolder(scenario);
    Groups groups = {{{0, 3}, {{0, 1}, {2, 3}}},
                     {{0, 6}, {{0, 2}}},
                     {{0, 9}, {{0, 3}, {1, 2}}},
                     {{0, 12}, {{0, 1}, {2, 3}}}};
    if (std::string(pattern) == "presend") {
      groups[{1, 3}] = {{0, 2}, {1, 3}};
      groups[{1, 6}] = {{0}, {1, 2}};  // 3 was not there
      groups[{1, 9}] = {{0, 1}, {2, 3}};
    }
    const Schedule schedule =
        schedule_of(config, {{1, 5, 3, 3, 5, 6}, {3, 6, 5, 0, 6, 7}, {1, 8, 7, 2, 7, 9}}, groups);
    const Trained found = follow(config, schedule, folder);
    expect_same_bytes(config, schedule, found);
    return found;
  };
  EXPECT_EQ(followed("presend").weights, followed("exchange").weights);
}

// NoLoCo's pairs of three: who was drawn to sit out takes the step of a group of one. Replica 2 is away from
// step 5 to 7; who has no partner without it takes no step, and its next Δ is of two rounds.
TEST(TrainedAbsences, WhoSitsOutTakesItsOuterStepAlone) {
  std::vector<std::vector<std::vector<float>>> weights;
  for (const char* pattern : {"exchange", "presend"}) {
    TrainedReference reference(scenario_of({{"name", "noloco"}, {"inner_steps", 3}, {"pattern", pattern}}));
    Groups groups;
    std::map<int, std::vector<Members>> taken;  // by step, the groups whose members step
    for (const int step : {3, 6, 9, 12}) {
      const auto drawn = random_groups(reference.config.seed, kReplicas, 2, step);
      ASSERT_EQ(drawn.size(), 2u);
      const bool is_broken = step == 6 && (drawn[0][0] == 2 || drawn[0][1] == 2);
      if (!is_broken) groups[{0, step}] = {drawn[0]}, taken[step] = {drawn[0]};
      if (!is_broken && step > 3) groups[{1, step - 3}] = {drawn[0]};
      if (step != 6 || drawn[1][0] != 2) taken[step].push_back(drawn[1]);
    }
    reference.schedule = schedule_of(reference.config, {{2, 5, 4, 0, 6, 7}}, groups);
    for (int step = 1; step <= kSteps; ++step) {
      reference.step(step == 5 || step == 6 ? Members{0, 1} : kAll, step);
      for (const Members& group : taken[step]) reference.noloco(group, 0.5f, 0.7f, 0.7f);
      if (step == 6) reference.replicas[2] = reference.replicas[0];
    }
    weights.push_back(reference.expect_training().weights);
  }
  EXPECT_EQ(weights[0], weights[1]) << "the pattern is of the timing alone";
}

// A deadline on averages (Completion::fetches): all compute all steps, and go on from those in time.
TEST(TrainedDeadlines, LateOuterGradientsAreThrownAway) {
  Json method = kDiloco;
  method.update({{"quorum", 1}, {"grace", "1s"}});
  TrainedReference reference(scenario_of(method));
  const std::map<int, Members> group_of = {{3, kAll}, {6, {0, 1}}, {9, {2}}, {12, {1, 2}}};
  reference.schedule.groups = one_a_step(group_of);
  for (int step = 1; step <= kSteps; ++step) {
    reference.step(kAll, step);
    if (group_of.count(step)) reference.outer_of(group_of.at(step), kAll, 0.5f, 0.8f);
  }
  reference.expect_training();
}

TEST(TrainedDeadlines, LateGradientsAreThrownAway) {
  TrainedReference reference(scenario_of({{"name", "ddp"}, {"quorum", 2}, {"grace", "1s"}}));
  std::map<int, Members> group_of;
  for (int step = 1; step <= kSteps; ++step) group_of[step] = step % 3 == 0 ? Members{0, 2} : kAll;
  group_of[7] = {1};
  reference.schedule.groups = one_a_step(group_of);
  for (const auto& [step, group] : group_of) reference.adam_of(group, kAll, step);
  reference.expect_training();
}

}  // namespace longhaul::absences_test
