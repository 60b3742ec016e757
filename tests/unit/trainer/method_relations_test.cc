// What methods are to each other: with some of its options one is another, to the bit or to rounding.
#include <cmath>
#include <set>

#include "tests/unit/trainer/compared_trainings.h"

namespace longhaul::method_relations_test {

Trained with_wire(const Json& method, const char* wire = "fp32") {
  return train(small_scenario(method, 13, wire));
}

void expect_others(const Json& method, const Json& other) {
  EXPECT_NE(with_wire(method).metrics, with_wire(other).metrics) << method << " is " << other;
}

// Losses, spreads and norms of every evaluation.
void expect_same_bits(const Json& method, const Json& other) {
  for (const char* wire : {"fp32", "bf16"})
    EXPECT_EQ(with_wire(method, wire).metrics, with_wire(other, wire).metrics)
        << method << " is " << other << " with " << wire;
}

const Json kDiloco = {{"name", "diloco"}, {"inner_steps", 4}, {"outer_lr", 0.6}, {"outer_momentum", 0.8}};

Json renamed(const char* name, const Json& more = Json::object()) {
  return changed(changed(kDiloco, {{"name", name}}), more);
}

Json by_four_steps(const char* name, const Json& more = Json::object()) {
  return changed({{"name", name}, {"inner_steps", 4}}, more);
}

const Json kDdp = {{"name", "ddp"}}, kLocal = by_four_steps("local-sgd"),
           kLocalAtEachStep = {{"name", "local-sgd"}, {"inner_steps", 1}},
           kWithoutCodec = {{"codec", "wire"}, {"error_feedback", "none"}, {"feedback_decay", 1}};

struct Relation {
  Json method, other;
};

TEST(MethodRelations, AreToTheBit) {
  const Relation same[] = {
      {renamed("streaming-diloco", {{"fragments", 1}, {"overlap", 0}, {"mixing", 0}, {"codec", "wire"}}),
       kDiloco},
      {renamed("eager-diloco", {{"delay", 0}}), kDiloco},
      {renamed("delayed-nesterov", {{"momentum_every", 1}}), kDiloco},
      {renamed("muloco", {{"optimizer", {{"name", "adamw"}}}}), kDiloco},
      {renamed("muloco"), renamed("diloco", {{"optimizer", {{"name", "muon"}}}})},
      {{{"name", "fsdp"}}, kDdp},
      // It never freezes: there are 13 steps.
      {{{"name", "one-bit-adam"}, {"freeze_step", 13}}, kDdp},
      // Its warm-up never ends; it has none, and begins with step 1.
      {by_four_steps("local-sgd", {{"warmup_steps", 13}}), kDdp},
      {{{"name", "local-sgd"}, {"inner_steps", 1}, {"warmup_steps", 0}}, kLocalAtEachStep},
      // Averages of one group.
      {by_four_steps("gossip", {{"group_size", 4}}), kLocal},
      {by_four_steps("moshpit", {{"group_size", 4}}), kLocal},
      {by_four_steps("hierarchical", {{"across_every", 1}}), kLocal},
      {by_four_steps("epidemic", {{"targets", 3}}), kLocal},
      // No gradient is late.
      {by_four_steps("ravnest", {{"stages", 1}}), kLocal},
      {by_four_steps("ravnest", {{"delay", 0}}), kLocal},
      // What is sent ahead is the φ that is sent later.
      {by_four_steps("noloco", {{"pattern", "presend"}}), by_four_steps("noloco")},
      // All weights are averaged after every step.
      {{{"name", "sparta"}, {"share", 1}}, kLocalAtEachStep}};
  for (const Relation& relation : same) expect_same_bits(relation.method, relation.other);
  // With n = N all φ are one, so that the term of γ is zero.
  const Json heavy_ball =
      by_four_steps("diloco", {{"outer_lr", 0.7}, {"outer_momentum", 0.3}, {"nesterov", false}});
  for (const double gamma : {0., 0.3, 0.7})
    expect_same_bits(
        by_four_steps("noloco", {{"group_size", 4}, {"alpha", 0.3}, {"beta", 0.7}, {"gamma", gamma}}),
        heavy_ball);
}

TEST(MethodRelations, AreToRounding) {
  const Json heavy_ball = renamed("diloco", {{"outer_momentum", 0.5}, {"nesterov", false}});
  const Relation same[] = {
      // SlowMo: m ← μ m + Δ̄, φ ← φ + η m is heavy-ball with the rate outside. No delay, no gap.
      {renamed("co2", {{"outer_momentum", 0.5}, {"delay", 0}, {"outer_clip", 0}}), heavy_ball},
      // φ + 1 · mean(θ − φ) is the mean of θ.
      {renamed("diloco", {{"outer_lr", 1}, {"outer_momentum", 0}}), kLocal},
      {renamed("diloco", {{"inner_steps", 1}, {"outer_lr", 1}, {"outer_momentum", 0}}), kLocalAtEachStep},
      {{{"name", "sparta"}, {"share", 1}, {"arrival", "add"}}, kLocalAtEachStep},
      // The changes that EF21 sends add up.
      {renamed("diloco", {{"error_feedback", "ef21"}}), kDiloco}};
  for (const auto& [method, other] : same)
    expect_losses(with_wire(method), with_wire(other), 2e-5, method.dump() + " is " + other.dump());
}

// What they are not, so that the relations above could fail.
TEST(MethodRelations, WithOtherOptionsTheyAreOthers) {
  const Relation others[] = {
      {renamed("streaming-diloco", {{"fragments", 1}, {"overlap", 0}, {"mixing", 0.5}, {"codec", "wire"}}),
       kDiloco},
      {renamed("eager-diloco", {{"delay", 1}}), kDiloco},
      {renamed("delayed-nesterov", {{"momentum_every", 2}}), kDiloco},
      {renamed("muloco"), kDiloco},
      {{{"name", "one-bit-adam"}, {"freeze_step", 12}}, kDdp},
      {by_four_steps("local-sgd", {{"warmup_steps", 12}}), kDdp},
      {by_four_steps("local-sgd", {{"warmup_steps", 3}}), kLocal},
      {by_four_steps("moshpit"), kLocal},
      {by_four_steps("hierarchical", {{"across_every", 2}}), kLocal},
      {by_four_steps("epidemic", {{"targets", 2}}), kLocal},
      {by_four_steps("ravnest", {{"delay", 1}}), kLocal},
      {{{"name", "sparta"}, {"share", 0.5}}, kLocalAtEachStep}};
  for (const Relation& relation : others) expect_others(relation.method, relation.other);
}

// Both take a late mean; without momentum it does not matter which kind of momentum.
TEST(MethodRelations, Co2WithoutPenaltyClipAndMomentumIsDilocox) {
  for (const double outer_lr : {0.4, 1.}) {
    const Json common = {{"inner_steps", 3}, {"outer_lr", outer_lr}, {"outer_momentum", 0}},
               co2 = changed(common, {{"name", "co2"}, {"gap_penalty", 0}, {"outer_clip", 0}});
    expect_same_bits(co2, changed(changed(common, kWithoutCodec), {{"name", "dilocox"}}));
    for (const auto& [on, value] :
         {std::pair{"gap_penalty", 0.5}, {"outer_momentum", 0.5}, {"outer_clip", 1e-3}})
      expect_others(changed(co2, {{on, value}}), co2);
  }
}

// SGD on Δ where everything travels, in float32. A codec that leaves nothing out has nothing to feed back.
TEST(MethodRelations, WithCompleteMessagesAreToTheBit) {
  const Json diloco = renamed("diloco", {{"outer_momentum", 0}});
  const auto sparseloco = [](const Json& codec) {
    return by_four_steps("sparseloco", {{"outer_lr", 0.6}, {"codec", codec}});
  };
  for (const auto& [method, other] :
       {Relation{sparseloco({{"top_k", {{"chunk", 64}, {"kept", 64}, {"numbers", "wire"}}}}), diloco},
        Relation{sparseloco("wire"), diloco},
        Relation{renamed("diloco", {{"error_feedback", "classic"}}), kDiloco}})
    EXPECT_EQ(with_wire(method).metrics, with_wire(other).metrics) << method;
  expect_others(sparseloco("sign"), diloco);
}

// DeMo is a descent along signs then, and DGC one with momentum. (All coefficients of a cosine transform are
// not the columns to the last bit, and DeMo steps along the signs of what is left of zeros.)
TEST(MethodRelations, WithNothingDroppedDemoAndDgcAreTheirUncompressedSelves) {
  const Json whole = {{"top_k", {{"chunk", 32}, {"kept", 32}}}};
  for (Json method : std::vector<Json>{{{"name", "demo"}},
                                       {{"name", "dgc"}, {"warm_up", 0}},
                                       {{"name", "dgc"}, {"warm_up", 0}, {"factor_masking", false}}}) {
    method["codec"] = whole;
    const std::string complete = with_wire(method).metrics;
    method.update(kWithoutCodec);
    EXPECT_EQ(complete, with_wire(method).metrics) << method;
    method["codec"] = {{"top_k", {{"chunk", 32}, {"kept", 8}}}};
    EXPECT_NE(complete, with_wire(method).metrics) << method;
  }
}

// The same sequences, in one batch or a part of it on each replica: only the order of the sum differs.
TEST(MethodRelations, DdpIsOneMachineWithTheWholeBatch) {
  for (const int replicas : {2, 3, 4}) {
    const auto losses = [replicas](const char* name) {
      const Json scenario = changed(small_scenario({{"name", name}}, 13, "fp32"),
                                    {{"replicas", replicas}, {"train", {{"evaluate_every", 1}}}});
      const Case config = case_of(scenario);
      EXPECT_EQ(training_key(trained_case(config)), training_key(config));
      return losses_in(train(scenario).metrics);
    };
    const std::vector<double> single = losses("single"), ddp = losses("ddp"),
                              independent = losses("independent");
    EXPECT_EQ(std::set<double>(ddp.begin(), ddp.end()).size(), 13u);
    // There is a line for each replica and one for their mean.
    ASSERT_EQ(single.size(), 2 * 13u);
    ASSERT_EQ(ddp.size(), (as_index(replicas) + 1) * 13u);
    for (std::size_t step = 0; step < 13; ++step)
      EXPECT_NEAR(single[2 * step], ddp[(as_index(replicas) + 1) * step], 2e-5 * ddp[0]) << replicas;
    EXPECT_GT(std::abs(independent.back() - ddp.back()), 1e-3 * ddp[0]);
  }
}

}  // namespace longhaul::method_relations_test
