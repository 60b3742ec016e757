// Evaluations and what is sent ahead leave the rows on the card: losses and sums come to the host.
#include "tests/emulated_gpu/device_memory.h"
#include "tests/unit/trainer/compared_trainings.h"

namespace longhaul::evaluation_test {

constexpr std::size_t kRow = 16 * 16 * 2 + 2 * (4 * 16 * 16 + 3 * 16 * 24 + 2 * 16) + 16;  // parameters

// Of twelve steps; a checkpoint has rows.
std::size_t copied_by(const Json& method, int evaluate_every, int checkpoint_every = 12) {
  Json scenario = small_scenario(method, 12);
  scenario["train"]["evaluate_every"] = evaluate_every;
  scenario["train"]["checkpoint_every"] = checkpoint_every;
  const std::size_t before = emulated::copied_to_host();
  stacked_on_gpu(scenario);
  return emulated::copied_to_host() - before;
}

TEST(CardEvaluation, BringsNoRowsToTheHost) {
  for (const Json& method : {Json{{"name", "noloco"}, {"inner_steps", 3}}, Json{{"name", "ddp"}}}) {
    const std::size_t number = copied_by(method, 12), twelve = copied_by(method, 1);
    EXPECT_GT(number, 4 * kRow * sizeof(float)) << "the last checkpoint has the weights of four replicas";
    EXPECT_GT(twelve, number);
    EXPECT_LT(twelve - number, kRow * sizeof(float)) << method.dump();
  }
}

// φ that is sent ahead waits on the card; a checkpoint fetches it.
TEST(CardAnchors, StayThereBetweenCheckpoints) {
  const auto copied = [](const char* pattern, int checkpoint_every) {
    return copied_by({{"name", "noloco"}, {"inner_steps", 2}, {"pattern", pattern}}, 12, checkpoint_every);
  };
  EXPECT_EQ(copied("presend", 12), copied("exchange", 12));
  EXPECT_EQ(copied("presend", 6), copied("exchange", 6) + 4 * kRow * 2) << "of four replicas, in bf16";
}

}  // namespace longhaul::evaluation_test
