// Trainings whose slow replicas take fewer steps in a round, against the reference of reference_replicas.h.
#include "core/plan/dynamic_steps.h"

#include <map>
#include <set>

#include "tests/unit/trainer/reference_replicas.h"

namespace longhaul::dynamic_steps_test {

Json delayed_nesterov(int inner_steps, Json more = {{"dynamic_steps", true}}) {
  more.update({{"name", "delayed-nesterov"}, {"inner_steps", inner_steps}, {"momentum_every", 2}});
  more.update({{"outer_lr", 0.6}, {"outer_momentum", 0.8}});
  return more;
}

Json with_factors(const Json& method, const Json& factors) {
  Json scenario = scenario_of(method);
  scenario["workload"]["step_time_factors"] = factors;
  return scenario;
}

// By number in a round of H, from 1 on: who takes that step.
using Takers = std::map<int, std::vector<int>>;

// Delayed Nesterov with K = 2, η = 0.6, μ = 0.8: B ← B + Δ̄/2; with every second round m ← μ m + B,
// φ ← φ + η (Δ̄/2 + μ m), B ← 0; else φ ← φ + η Δ̄/2; θ ← φ. All replicas have the same φ, m and B.
void take_by_hand(Reference& reference, int every, const Takers& takers) {
  const std::size_t columns = reference.replicas[0].weights.size();
  Row phi = reference.replicas[0].weights, m(columns), buffer(columns);
  for (int step = 1; step <= kSteps; ++step) {
    reference.step(takers.at((step - 1) % every + 1), step);
    if (step % every != 0) continue;
    const Row mean = reference.mean_delta({0, 1, 2});
    for (std::size_t i = 0; i < columns; ++i) {
      const float half = mean[i] / 2;
      buffer[i] += half;
      if (step / every % 2 == 0) {
        m[i] = 0.8f * m[i] + buffer[i];
        phi[i] += 0.6f * (half + 0.8f * m[i]);
        buffer[i] = 0;
      } else {
        phi[i] += 0.6f * half;
      }
    }
    for (Replica& replica : reference.replicas) replica.weights = replica.phi = phi;
  }
}

// Of three steps those twice as fast as the middle one, and three times as the slowest: 3, 2 and 1 (the steps
// 1, 2, 3; ceil(1.5) and 3; 3). Four rounds, two with momentum. Who takes no step is evaluated all the same:
// its weights are those of its last one. Measured times are of the steps that are taken.
TEST(TrainedDynamicSteps, AreThoseOfTheEquationsAndAllAreEvaluated) {
  Json scenario = with_factors(delayed_nesterov(3), {{"1", 1.5}, {"2", 3}});
  scenario["train"]["evaluate_every"] = 1;
  TrainedReference reference(scenario);
  take_by_hand(reference, 3, {{1, {0}}, {2, {0, 1}}, {3, {0, 1, 2}}});
  const Trained found = reference.expect_training();
  EXPECT_EQ(found.summary["tokens"], (12 + 8 + 4) * 2 * 12) << "steps that are taken";
  std::map<std::string, std::map<std::string, std::string>> losses;  // by step, replica; after an outer step
  for (const auto& row : table_of(found.metrics).rows) losses[row[0]][row[2]] = row[3];
  ASSERT_EQ(losses.size(), 12u);
  for (const auto& [step, of] : losses) EXPECT_EQ(of.size(), 4u) << step << ": three replicas and their mean";
  EXPECT_EQ(losses["4"]["2"], losses["3"]["2"]) << "it has not moved since the round ended";
  EXPECT_EQ(losses["4"]["1"], losses["4"]["2"]);
  EXPECT_NE(losses["5"]["1"], losses["4"]["1"]);
  EXPECT_EQ(losses["5"]["2"], losses["3"]["2"]);
  EXPECT_EQ(losses["6"]["2"], losses["6"]["0"]);
  std::map<std::string, std::set<std::string>> timed;
  for (const auto& row : read_csv(reference.folder.file("out/step_times.csv")).rows)
    timed[row[0]].insert(row[1]);
  EXPECT_EQ(timed["4"], (std::set<std::string>{"0"}));
  EXPECT_EQ(timed["5"], (std::set<std::string>{"0", "1"}));
  EXPECT_EQ(timed["6"], (std::set<std::string>{"0", "1", "2"}));
}

// Of five steps the first replica takes 2 (3 and 5), the last one 3 (2, 4 and 5). What is behind the second
// round is two steps of a third: the last replica takes one of them, the first none.
TEST(TrainedDynamicSteps, ARoundThatDoesNotEndHasItsShare) {
  TrainedReference reference(with_factors(delayed_nesterov(5), {{"0", 2.5}, {"2", 1.6}}));
  take_by_hand(reference, 5, {{1, {1}}, {2, {1, 2}}, {3, {0, 1}}, {4, {1, 2}}, {5, {0, 1, 2}}});
  EXPECT_EQ(reference.expect_training().summary["tokens"], (4 + 12 + 7) * 2 * 12);
}

// Equally slow, or without the option: the bytes are the same.
TEST(TrainedDynamicSteps, WithoutADifferenceNothingChanges) {
  const auto followed = [](const Json& scenario) {
    const TemporaryFolder folder;
    return follow(only_case(scenario, folder), {}, folder);
  };
  const Trained plain = followed(scenario_of(delayed_nesterov(3, Json::object())));
  for (const Json& scenario :
       {with_factors(delayed_nesterov(3), {{"0-2", 2}}), with_factors(delayed_nesterov(3), Json::object()),
        with_factors(delayed_nesterov(3, {{"dynamic_steps", false}}), {{"1", 4}})}) {
    const Trained found = followed(scenario);
    expect_same(found, plain);
    EXPECT_EQ(found.summary, plain.summary);
  }
}

// Replica 1 (steps 2 and 3 of a round of 3) goes in step 5 and begins again with step 7, with what 0 has
// after step 6; it takes 8 and 9, and 11 and 12.
TEST(TrainedDynamicSteps, OneWhoComesBackTakesItsOwn) {
  Json method = delayed_nesterov(3);
  method["momentum_every"] = 1;
  TrainedReference reference(with_factors(method, {{"1", 1.5}, {"2", 3}}));
  Schedule& schedule = reference.schedule;
  schedule.has_all = true;
  for (const int step : {3, 6, 9, 12})
    schedule.groups[{0, step}] = {step == 6 ? std::vector<int>{0, 2} : std::vector<int>{0, 1, 2}};
  schedule.absences = Absences({{1, 5, 4, 0, 6, 7}}, plan_context(reference.config), true);
  const std::map<int, std::vector<int>> takers = {
      {1, {0}}, {2, {0, 1}}, {3, {0, 1, 2}}, {4, {0}},  {5, {0}},     {6, {0, 2}},
      {7, {0}}, {8, {0, 1}}, {9, {0, 1, 2}}, {10, {0}}, {11, {0, 1}}, {12, {0, 1, 2}}};
  for (const auto& [step, replicas] : takers) {
    reference.step(replicas, step);
    if (step % 3 != 0) continue;
    const std::vector<int>& members = schedule.groups.at({0, step})[0];
    reference.outer_of(members, members, 0.6f, 0.8f);
    if (step == 6) reference.replicas[1] = reference.replicas[0];
  }
  EXPECT_EQ(reference.expect_training().summary["tokens"], (12 + 6 + 4) * 2 * 12);
}

}  // namespace longhaul::dynamic_steps_test
