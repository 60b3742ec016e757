// Outer steps in Python: bit by bit those of the same methods in C++, and by hand.
#include <cmath>

#include "methods/common/python_step.h"
#include "tests/support/said.h"
#include "tests/unit/trainer/operation_support.h"
#include "tests/unit/trainer/support.h"
#include "trainer/operations/update.h"

namespace longhaul::python_update_test {

class PythonStep : public testing::Test {
 protected:
  void SetUp() override {
    if (!refused_with([] { PythonChild(); }).empty()) GTEST_SKIP() << "no python3 has numpy";
  }
};

// A method as a scenario in scenarios/methods writes it, with its defaults.
MethodSpec in_python(const std::string& file, Json options = Json::object()) {
  options.update({{"name", "python"}, {"file", "python/" + file}});
  Json scenario = {{"methods", {options}}};
  PythonSteps().expand(scenario, LONGHAUL_SOURCE_DIR "/scenarios/methods");
  const Json& expanded = scenario["methods"][0];
  const std::string name = expanded["name"];
  std::vector<Node> nodes = common_method_options(Json::object());
  const std::vector<Node>& own = method_named(name).options;
  nodes.insert(nodes.end(), own.begin(), own.end());
  return {name, "python", resolve(section("", nodes), expanded, "method")};
}

// Begins as a training does, without one.
struct StartedBench : UpdateBench {
  StartedBench(const MethodSpec& method, int replicas, std::int64_t columns)
      : UpdateBench(method, replicas, columns, slots(method)) {
    OperationPlan plan;
    plan.keeps = rows_kept_by(method);
    change_plan(method.options, {columns, {}}, plan);
    update->follow(plan, {1, replicas, 100, columns});
    update->start(all);
  }
  static std::vector<Slot> slots(const MethodSpec& method) {
    OperationPlan plan;
    change_plan(method.options, {}, plan);
    std::vector<Slot> own;
    for (const std::string& row : plan.keeps) own.push_back(slot_named(row));
    return own;
  }
};

TEST_F(PythonStep, OfDilocoAndNolocoMakesTheBitsOfTheStepInCpp) {
  using Groups = std::vector<std::vector<int>>;
  constexpr std::int64_t kColumns = 300001;  // several pieces of a group, whatever the number of threads
  for (const std::string name : {"diloco", "noloco"}) {
    // Neighbours, every other one, and three that are no regular distance apart with one that sits out.
    for (const Groups& groups : {Groups{{0, 1}, {2, 3}}, Groups{{0, 2}, {1, 3}}, Groups{{0, 1, 3}, {2}}}) {
      StartedBench python(in_python(name + ".py"), 4, kColumns), cpp(method_with(name), 4, kColumns);
      const OperationRule rule = rule_for({"delta", "phi"}, Wire::kBf16);
      for (int round = 1; round <= 2; ++round) {
        const std::vector<float> weights = normal_row(4 * kColumns, 7, static_cast<std::uint32_t>(round));
        for (StartedBench* bench : {&python, &cpp}) {
          bench->set(Slot::kWeights, weights);
          bench->run(rule, round, groups);
        }
        for (const Slot slot : {Slot::kWeights, Slot::kSlowWeights, Slot::kOuterMomentum})
          EXPECT_EQ(python.table(slot), cpp.table(slot)) << name << " " << slot.name << " round " << round;
      }
    }
  }
}

// Δ̄ = (1, −2), m = Δ̄/2, v = Δ̄²/4, corrected Δ̄ and Δ̄²; φ + ½ sign(Δ̄) = (1.5, 1.5).
TEST_F(PythonStep, OfAdamIsTheOneWorkedOutByHand) {
  StartedBench bench(in_python("outer_adam.py", {{"outer_lr", 0.5}, {"beta1", 0.5}, {"beta2", 0.75}}), 2, 2);
  bench.set(Slot::kSlowWeights, {1, 2, 1, 2});
  bench.set(Slot::kWeights, {3, 2, 1, -2});
  bench.run(rule_for({"delta"}));
  EXPECT_EQ(bench.table(slot_named("squares")), std::vector<float>({0.25, 1, 0.25, 1}));
  EXPECT_EQ(bench.table(Slot::kOuterMomentum), std::vector<float>({0.5, -1, 0.5, -1}));
  for (const float weight : bench.table(Slot::kWeights)) EXPECT_NEAR(weight, 1.5, 1e-6);
}

// Losses of 1 and 1 + ln 3 at temperature 1 weigh 3/4 and 1/4: Δ̄ = 3/4 · 4 + 1/4 · 8 = 5.
TEST_F(PythonStep, SeesTheLosses) {
  StartedBench bench(in_python("noloco_by_loss.py", {{"alpha", 0}, {"beta", 1}, {"gamma", 0}}), 2, 1);
  const std::vector<double> losses = {1, 1 + std::log(3.)};
  bench.all.losses = &losses;
  bench.set(Slot::kWeights, {4, 8});
  bench.run(rule_for({"delta", "phi"}));
  for (const float weight : bench.table(Slot::kWeights)) EXPECT_NEAR(weight, 5, 1e-6);
}

}  // namespace longhaul::python_update_test
