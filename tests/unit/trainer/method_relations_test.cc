// What methods are to each other: with some of its options one is another, to the bit or to rounding.
#include <gtest/gtest.h>

#include <cmath>

#include "core/csv.h"
#include "tests/unit/trainer/support.h"

namespace longhaul {
namespace {

Trained with_wire(const Json& method, const char* wire, int steps = 13) {
  Json scenario = small_scenario(method, steps);
  scenario["workload"] = {{"wire", wire}};
  return train(scenario);
}

// Losses, spreads and norms of every evaluation.
void expect_same_bits(const Json& method, const Json& other) {
  for (const char* wire : {"fp32", "bf16"})
    EXPECT_EQ(with_wire(method, wire).metrics, with_wire(other, wire).metrics)
        << method << " is " << other << " with " << wire;
}

std::vector<double> losses_of(const Trained& trained) {
  const TemporaryFolder folder;
  write_text(folder.file("metrics.csv"), trained.metrics);
  std::vector<double> losses;
  const CsvTable table = read_csv(folder.file("metrics.csv"));
  for (const auto& row : table.rows)
    if (row[table.column("phase")] != "before") losses.push_back(std::stod(row[table.column("loss")]));
  return losses;
}

void expect_same_to_rounding(const Json& method, const Json& other) {
  const std::vector<double> found = losses_of(with_wire(method, "fp32")),
                            expected = losses_of(with_wire(other, "fp32"));
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 2e-5 * expected[i]) << method << " is " << other << ", line " << i;
}

const Json kDiloco = {{"name", "diloco"}, {"inner_steps", 4}, {"outer_lr", 0.6}, {"outer_momentum", 0.8}};

Json renamed(const char* name, Json more) {
  Json method = kDiloco;
  method["name"] = name;
  method.update(more);
  return method;
}

TEST(MethodRelations, StreamingDilocoInOnePieceIsDiloco) {
  expect_same_bits(renamed("streaming-diloco", {{"fragments", 1}, {"overlap", 0}, {"mixing", 0}}), kDiloco);
}

TEST(MethodRelations, EagerDilocoWithoutDelayIsDiloco) {
  expect_same_bits(renamed("eager-diloco", {{"delay", 0}}), kDiloco);
}

// φ + 1 · mean(θ − φ) is the mean of θ.
TEST(MethodRelations, DilocoWithRateOneAndNoMomentumIsLocalSgd) {
  for (const int every : {1, 4})
    expect_same_to_rounding(
        {{"name", "diloco"}, {"inner_steps", every}, {"outer_lr", 1}, {"outer_momentum", 0}},
        {{"name", "local-sgd"}, {"inner_steps", every}});
}

// With n = N all φ are one, so that the term of γ is zero.
TEST(MethodRelations, NolocoOfOneGroupIsHeavyBallDilocoWhateverGammaIs) {
  for (const double gamma : {0., 0.3, 0.7})
    expect_same_bits({{"name", "noloco"},
                      {"inner_steps", 4},
                      {"group_size", 4},
                      {"alpha", 0.3},
                      {"beta", 0.7},
                      {"gamma", gamma}},
                     {{"name", "diloco"},
                      {"inner_steps", 4},
                      {"outer_lr", 0.7},
                      {"outer_momentum", 0.3},
                      {"nesterov", false}});
}

TEST(MethodRelations, AveragesOfOneGroupAreLocalSgd) {
  const Json local = {{"name", "local-sgd"}, {"inner_steps", 4}};
  expect_same_bits({{"name", "gossip"}, {"inner_steps", 4}, {"group_size", 4}}, local);
  expect_same_bits({{"name", "moshpit"}, {"inner_steps", 4}, {"group_size", 4}}, local);
  expect_same_bits({{"name", "hierarchical"}, {"inner_steps", 4}, {"across_every", 1}}, local);
}

// What they are not, so that the relations above could fail.
TEST(MethodRelations, ADelayAMixtureAndSmallGroupsAreOtherTrainings) {
  const std::string diloco = with_wire(kDiloco, "fp32").metrics;
  EXPECT_NE(with_wire(renamed("eager-diloco", {{"delay", 1}}), "fp32").metrics, diloco);
  EXPECT_NE(
      with_wire(renamed("streaming-diloco", {{"fragments", 1}, {"overlap", 0}, {"mixing", 0.5}}), "fp32")
          .metrics,
      diloco);
  const std::string local = with_wire({{"name", "local-sgd"}, {"inner_steps", 4}}, "fp32").metrics;
  EXPECT_NE(with_wire({{"name", "moshpit"}, {"inner_steps", 4}}, "fp32").metrics, local);
  EXPECT_NE(with_wire({{"name", "hierarchical"}, {"inner_steps", 4}, {"across_every", 2}}, "fp32").metrics,
            local);
}

}  // namespace
}  // namespace longhaul
