// Merges of one weight, by hand.
#include "trainer/merges.h"

#include <cmath>
#include <map>

#include "tests/unit/trainer/operation_support.h"
#include "tests/unit/trainer/support.h"

namespace longhaul::merges_test {

// Of every two steps, taken up one later.
OperationRule merge_of(int fragment) {
  OperationRule rule{"fragment-" + std::to_string(fragment), OperationKind::kMerge, "", 2};
  rule.overlap_steps = 1;
  rule.payload = whole({"delta"}, Wire::kFp32);
  rule.answer = whole({"phi"}, Wire::kFp32);
  return rule;
}

// Three replicas of one weight, as tests/golden/decoupled_diloco.json has them. The second merge is made
// before replica 1 takes up the first, and it gets what it contributed to.
TEST(Merges, AreMadeByTokensAndTakeALateContribution) {
  const Json history = golden("decoupled_diloco.json");
  const Json &first = history["merges"][0], &second = history["merges"][1];
  const OperationPlan plan{{merge_of(0)}};
  const PlanContext context{1, 3, 8, 1};
  const std::vector<Parameter> layout = {{"weight", 1, 1, 0, 0}};
  UpdateBench bench({"decoupled-diloco", "", history["method"]}, 3, 1);
  const auto theta = [&](int replica) -> float& { return *bench.arena.row(Slot::kWeights, replica); };
  const auto phi = [&](int replica) -> float& { return *bench.arena.row(Slot::kSlowWeights, replica); };
  for (int replica = 0; replica < 3; ++replica) theta(replica) = phi(replica) = history["start"]["phi"];
  Merges merges(plan, context, layout, *bench.update, bench.all);

  Schedule schedule;
  for (const Json* merge : {&first, &second}) {
    auto& contributions = schedule.merges.emplace_back().contributions;
    for (const Json& of : (*merge)["contributions"])
      contributions.push_back({of["replica"], of["post_step"], of["taken_step"]});
  }
  std::map<std::size_t, journal::MakeMerge> made;
  const auto journal = make_journal({plan, context, 8, 8}, schedule);
  for (auto entries = journal->next(); !entries.empty(); entries = journal->next())
    for (const Entry& entry : entries)
      if (const auto* merge = std::get_if<journal::MakeMerge>(&entry)) made.emplace(merge->merge, *merge);

  const auto post = [&](std::size_t merge, const Json& entry) {
    theta(entry["replica"]) = entry["posted"];
    merges.contribute({merge, 0, entry["replica"], entry["post_step"]});
  };
  const auto take_up = [&](std::size_t merge, const Json& entry) {
    theta(entry["replica"]) = entry["theta"];
    merges.take_up({merge, 0, entry["replica"]});
    EXPECT_FLOAT_EQ(theta(entry["replica"]), entry["after"].get<float>()) << entry;
  };
  for (const Json& entry : first["contributions"]) post(0, entry);
  merges.make(made.at(0));
  ASSERT_EQ(bench.log.records().size(), 1u);
  EXPECT_EQ(bench.log.records()[0].groups, (std::vector<std::vector<int>>{{0, 1}})) << "who contributed";
  EXPECT_EQ(bench.log.records()[0].bytes, 4);
  take_up(0, first["contributions"][0]);
  EXPECT_FLOAT_EQ(phi(0), first["phi"].get<float>());
  EXPECT_EQ(phi(1), 10) << "not yet";

  for (const Json& entry : second["contributions"]) post(1, entry);
  merges.make(made.at(1));
  take_up(0, first["contributions"][1]);
  EXPECT_FLOAT_EQ(phi(1), first["phi"].get<float>());
  for (const Json& entry : second["contributions"]) {
    take_up(1, entry);
    EXPECT_FLOAT_EQ(phi(entry["replica"]), second["phi"].get<float>());
  }
}

// Two of length 2 at a right angle: their plain mean (1, 1) is 1.41 long, this one 2.
TEST(RadialDirectionalMean, IsTheOneWorkedOutByHand) {
  const double root = std::sqrt(2.);
  expect_near(radial_directional_mean({{2, 0}, {0, 2}}, {0.5F, 0.5F}), {root, root});
  // Lengths 1 and 5, weights 1/4 and 3/4: 4 long; the directions (1, 0) and (0.6, 0.8) make (0.7, 0.6).
  const double length = std::sqrt(0.7 * 0.7 + 0.6 * 0.6);
  expect_near(radial_directional_mean({{1, 0}, {3, 4}}, {0.25F, 0.75F}),
              {4 * 0.7 / length, 4 * 0.6 / length});
  expect_near(radial_directional_mean({{3, -4}}, {1}), {3, -4});
  // Zeros have no direction, and count as a length.
  expect_near(radial_directional_mean({{0, 0}, {3, 4}}, {0.5F, 0.5F}), {1.5, 2});
  expect_near(radial_directional_mean({{0, 0}, {0, 0}}, {0.5F, 0.5F}), {0, 0});
  // Opposite directions cancel: the plain mean is left.
  expect_near(radial_directional_mean({{2, 0}, {-1, 0}}, {0.5F, 0.5F}), {0.5, 0});
}

// An embedding [1, 2] and a matrix of a layer [1, 2], fragments of their own. What is merged is added to φ.
TEST(Merges, AverageDirectionsOfAllButEmbeddingsFromTheSynchronizersModel) {
  const Json options = {
      {"merge", "radial-directional"}, {"outer_lr", 1}, {"outer_momentum", 0}, {"mixing", 0}};
  const std::vector<Parameter> layout = {{"embedding", 1, 2, 0}, {"layers.0.query", 1, 2, 2, 0}};
  OperationPlan plan{{merge_of(0), merge_of(1)}};
  plan.rules[0].payload[0].columns = {{0, 2}};
  plan.rules[1].payload[0].columns = {{2, 4}};
  UpdateBench bench(method_with("decoupled-diloco", options), 3, 4);
  const auto phi = [&](int replica) { return bench.row(Slot::kSlowWeights, replica); };
  for (int replica = 0; replica < 3; ++replica)
    for (const Slot slot : {Slot::kWeights, Slot::kSlowWeights}) bench.set(slot, replica, {10, 10, 10, 10});
  const PlanContext context{1, 3, 8, 4};
  Merges merges(plan, context, layout, *bench.update, bench.all);
  bench.set(Slot::kWeights, 0, {12, 10, 12, 10});
  bench.set(Slot::kWeights, 1, {10, 12, 10, 12});
  for (const int fragment : {0, 1}) {
    for (const int replica : {0, 1}) merges.contribute({as_index(fragment), fragment, replica, 2});
    merges.make({as_index(fragment), fragment, {{0, 2, 3}, {1, 2, 3}}, {0.5F, 0.5F}});
    for (const int replica : {0, 1}) merges.take_up({as_index(fragment), fragment, replica});
  }
  const double root = std::sqrt(2.);
  for (const int replica : {0, 1}) expect_near(phi(replica), {11, 11, 10 + root, 10 + root});

  // Four steps of replica 2 against two of replica 0: 2/3 and 1/3. Of replica 0 it is 3 long, along (1, 0);
  // replica 2 is at φ + (0, 6), though its Δ, from the 10 that it took up last, is (√2, 6 + √2).
  const auto at = static_cast<float>(10 + root);
  bench.set(Slot::kWeights, 0, {11, 11, at + 3, at});
  bench.set(Slot::kWeights, 2, {10, 10, at, at + 6});
  for (const int replica : {0, 2}) merges.contribute({2, 1, replica, 4});
  // What is kept in a checkpoint is enough for the same end.
  const TemporaryFolder folder;
  write_safetensors(folder.file("posted"), merges.tensors());
  Merges restored(plan, context, layout, *bench.update, bench.all);
  CheckpointTensors tensors({0, {}, folder.file("posted")}, bench.all);
  restored.restore(merges.state(), tensors);
  bench.set(Slot::kSlowWeights, 2, {0, 0, 0, 0});  // where it is meanwhile does not count
  restored.make({2, 1, {{0, 4, 5}, {2, 4, 5}}, {1.F / 3, 2.F / 3}});
  for (const int replica : {0, 2}) restored.take_up({2, 1, replica});
  const double length = 3. / 3 + 2. * 6 / 3, along = std::sqrt(1. + 4);
  for (const int replica : {0, 2}) {
    EXPECT_NEAR(phi(replica)[2], 10 + root + length / along, 1e-5);
    EXPECT_NEAR(phi(replica)[3], 10 + root + 2 * length / along, 1e-5);
  }
}

}  // namespace longhaul::merges_test
