// Outer steps in Python: bit by bit those of the same methods in C++, and by hand.
#include <cmath>

#include "methods/common/python_child.h"
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
  if (file.front() == '/') options["file"] = file;
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

// With an outer rate of 1 a replica proposes its weights, of which the one in Python keeps the last ones as
// φ.
TEST_F(PythonStep, OfGaslocMakesTheBitsOfTheStepInCpp) {
  constexpr std::int64_t kColumns = 300001;
  StartedBench python(in_python("gasloc.py"), 3, kColumns),
      cpp(method_with("gasloc", {{"eta", 1}}), 3, kColumns);
  const OperationRule rule = rule_for({"weights"}, Wire::kBf16);
  for (int round = 1; round <= 3; ++round) {
    const std::vector<float> weights = normal_row(3 * kColumns, 7, static_cast<std::uint32_t>(round));
    for (StartedBench* bench : {&python, &cpp}) {
      bench->set(Slot::kWeights, weights);
      bench->run(rule, round, {{0, round % 2 + 1}, {2 - round % 2}});
    }
    EXPECT_EQ(python.table(Slot::kWeights), cpp.table(Slot::kWeights)) << round;
    EXPECT_EQ(python.table(Slot::kSlowWeights), cpp.table(Slot{"proposal"})) << round;
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

// A network alone, and one method: a file of a test.
class StepsInAScenario : public PythonStep {
 protected:
  // What `check` makes of it: the rule of its first operation.
  OperationRule planned(const std::string& text, const Json& options = Json::object(), int replicas = 8,
                        const Json& faults = Json::array()) {
    write_text(folder_.file("mine.py"), "import numpy\n" + text);
    Json method = {{"name", "python"}, {"label", "mine"}, {"file", "mine.py"}, {"inner_steps", 1}};
    method.update(options);
    const Json json = {
        {"name", "t"},
        {"replicas", replicas},
        {"methods", {method}},
        {"workload", {{"parameters", 1000}, {"steps", 4}, {"step_time", {{"constant", "1s"}}}}},
        {"network", {{"topology", {{"star", {{"rate", "1Gbps"}, {"rtt", "50ms"}}}}}}}};
    write_text(folder_.file("scenario.json"),
               changed(json, faults.empty() ? Json::object() : Json{{"faults", faults}}).dump());
    PythonSteps steps;
    Case config = load_scenario(
                      folder_.file("scenario.json"), {},
                      scenario_options(method_options(), stub_topologies()), [](const Case&) {},
                      [&](Json& written, const std::string& folder) { steps.expand(written, folder); })
                      .cases.front();
    method_named(config.method.name).check(config);
    steps.check(config);
    warnings_ = python_warnings(config);
    plan_ = plan_of(config);
    return plan_.rules.front();
  }
  std::string refused(const std::string& text, const Json& options = Json::object(), int replicas = 8) {
    return said_by([&] { planned(text, options, replicas); });
  }
  // Among these, with these arguments and this line before θ ← φ.
  static std::string step(const std::string& among, const std::string& arguments, const std::string& line) {
    return "among = " + among +
           "\nsends = ['delta']\nkeeps = ['phi', 'momentum']\ndef step(theta, phi, momentum, " + arguments +
           "):\n    " + line + "\n    theta[:] = phi\n";
  }
  static std::string like(const std::string& method, const std::string& arguments, const std::string& line) {
    return "like = '" + method + "'\ndef step(theta, phi, momentum, " + arguments + "):\n    " + line +
           "\n    theta[:] = phi\n";
  }

  TemporaryFolder folder_;
  std::vector<std::string> warnings_;
  OperationPlan plan_;
};

const std::string kMedian = "phi += numpy.median(sent_delta, axis=0)", kMean = "phi += mean_delta";

void expect_rule(const OperationRule& rule, OperationKind kind, const std::string& collective) {
  EXPECT_EQ(rule.kind, kind);
  EXPECT_EQ(rule.collective, collective);
}

// A sum on the way brings a mean; rows of more than two members have to travel side by side.
TEST_F(StepsInAScenario, ReadRowsThatAnAllGatherBrings) {
  constexpr auto kAllReduce = OperationKind::kAllReduce, kAllGather = OperationKind::kAllGather,
                 kGroupAverage = OperationKind::kGroupAverage;
  const Json grouped = {{"group_size", 4}};
  expect_rule(planned(step("'all'", "mean_delta", kMean)), kAllReduce, "ring");
  expect_rule(planned(step("'all'", "mean_delta", kMean), {{"all_reduce", "tree"}}), kAllReduce, "tree");
  expect_rule(planned(step("'all'", "sent_delta", kMedian)), kAllGather, "all-gather");
  expect_rule(planned(like("diloco", "sent_delta", kMedian)), kAllGather, "all-gather");
  expect_rule(planned(step("4", "mean_delta", kMean)), kGroupAverage, "pair");
  expect_rule(planned(step("4", "sent_delta", kMedian)), kAllGather, "all-gather");
  expect_rule(planned(step("4", "sent_delta", kMedian), Json::object(), 9), kAllGather, "all-gather");
  EXPECT_EQ(plan_.rules.front().grouping, Grouping::kRandom);
  expect_rule(planned(step("'pairs'", "sent_delta", kMedian)), kGroupAverage, "pair");
  expect_rule(planned(like("noloco", "sent_delta", kMedian)), kGroupAverage, "pair");
  expect_rule(planned(like("noloco", "sent_delta", kMedian), grouped), kAllGather, "all-gather");
  Json serial = grouped;
  serial["pattern"] = "serial";  // each to all others
  expect_rule(planned(like("noloco", "sent_delta", kMedian), serial), kGroupAverage, "serial");
  serial["pattern"] = "presend";
  planned(like("noloco", "sent_delta", kMedian), serial);
  for (const OperationRule& rule : plan_.rules) expect_rule(rule, kAllGather, "all-gather");
  const std::string average = "like = 'moshpit'\ndef step(theta, sent_weights):\n    theta[:] = ";
  expect_rule(planned(average + "numpy.median(sent_weights, axis=0)\n", grouped, 16), kAllGather,
              "all-gather");
  expect_rule(planned(average + "sent_weights.mean(axis=0)\n"), kAllReduce, "ring");  // pairs
}

// Nor do messages with columns of each member's own choice add up on the way.
TEST_F(StepsInAScenario, GatherMessagesThatDoNotAddUp) {
  const Json top_k = {{"codec", {{"top_k", {{"chunk", 64}, {"kept", 4}}}}}}, int8 = {{"codec", "int8"}};
  expect_rule(planned(step("4", "mean_delta", kMean), top_k), OperationKind::kAllGather, "all-gather");
  expect_rule(planned(step("'all'", "mean_delta", kMean), top_k), OperationKind::kAllGather, "all-gather");
  expect_rule(planned(step("2", "mean_delta", kMean), top_k), OperationKind::kGroupAverage, "pair");
  expect_rule(planned(step("4", "mean_delta", kMean), int8), OperationKind::kGroupAverage, "pair");
}

TEST_F(StepsInAScenario, RefuseOptionsThatBringNoRows) {
  const std::string all = step("'all'", "sent_delta", kMedian),
                    own = step("'all'", "own_delta", "phi += own_delta");
  EXPECT_SAYS(refused(all, {{"all_reduce", "ring"}}),
              "methods[0].all_reduce: found \"ring\" with a step that reads sent_delta (");
  EXPECT_SAYS(refused(all, {{"all_reduce", "ring"}}), "allowed: no all_reduce, for an all-gather");
  EXPECT_SAYS(refused(all, {{"all_reduce", "direct"}, {"codec", "int8"}, {"reduction", "two-shot"}}),
              "methods[0].all_reduce");
  EXPECT_SAYS(refused(all, {{"codec", "int8"}, {"reduction", "two-shot"}}), "methods[0].reduction");
  EXPECT_SAYS(refused(all, {{"quorum", 6}}), "methods[0].quorum");
  for (const std::string& text : {all, own, step("4", "sent_delta", kMedian)})
    EXPECT_SAYS(refused(text, {{"error_feedback", "ef21"}}), "methods[0].error_feedback");
  EXPECT_SAYS(refused(like("noloco", "sent_delta", kMedian), {{"group_size", 4}, {"pattern", "root"}}),
              "methods[0].pattern");
  EXPECT_EQ(refused(like("noloco", "sent_delta", kMedian), {{"pattern", "root"}}), "");
  EXPECT_EQ(refused(own, {{"all_reduce", "tree"}}), "");
}

// Who crashes between its message and the step on it is in the mean, and has no row.
TEST_F(StepsInAScenario, MayNotLackARowOfOneThatLeft) {
  const Json late = {{"fragments", 1}, {"overlap", 1}, {"inner_steps", 2}},
             faults = {{{"kind", "crash"}, {"replicas", "1"}, {"at", "2s"}, {"for", "1s"}}};
  const std::string median = like("streaming-diloco", "sent_delta", kMedian),
                    mean = like("streaming-diloco", "mean_delta", kMean),
                    waiting = like("diloco", "sent_delta", kMedian);
  planned(median, late);
  planned(mean, late, 8, faults);
  planned(waiting, Json::object(), 8, faults);
  EXPECT_SAYS(said_by([&] { planned(median, late, 8, faults); }),
              "step reads sent_delta of messages that are late");
}

// `check` takes the step with another member's row changed: what changes then has not travelled.
TEST_F(StepsInAScenario, MayNotReadRowsThatDoNotTravel) {
  EXPECT_SAYS(refused(step("'all'", "mean_delta", "phi += mean_delta + numpy.median(theta, axis=0)")),
              "mine.py, line 5: theta of one member changes theta of another, and does not travel");
  EXPECT_SAYS(refused(step("'all'", "own_delta", "phi += own_delta.mean(axis=0)")),
              "own_delta of one member");
  EXPECT_SAYS(refused(step("'all'", "own_delta", "phi += own_delta.mean(axis=0)")),
              "travels: sent_delta, or mean_delta");
  const std::string of_first = "momentum += mean_delta; phi += momentum[0]";
  EXPECT_EQ(refused(step("'all'", "mean_delta", of_first)), "") << "the same in all";
  EXPECT_SAYS(refused(step("4", "mean_delta", of_first)), "momentum of one member");
  EXPECT_EQ(refused(step("4", "mean_delta", of_first), Json::object(), 4), "") << "of all";
  EXPECT_SAYS(refused(step("'all'", "own_delta", "momentum += own_delta; phi += momentum.mean(axis=0)")),
              "of one member changes");
  EXPECT_EQ(refused(step("'all'", "mean_delta, own_delta", "phi += mean_delta - own_delta")), "");
}

TEST_F(StepsInAScenario, AreToldOfRowsThatTheyDoNotUse) {
  const std::string mine = "phi += mean_delta - sent_delta";
  planned(step("4", "mean_delta, sent_delta", mine));
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_SAYS(warnings_[0], "names sent_delta, so all contributions travel");
  planned(step("'pairs'", "mean_delta, sent_delta", mine));
  EXPECT_TRUE(warnings_.empty());
  planned(step("4", "sent_delta", kMedian));
  EXPECT_TRUE(warnings_.empty());
}

// One of nine is left over, a group of one.
TEST_F(StepsInAScenario, AreTriedOnTheGroupsThatThereAre) {
  const std::string other = step("'pairs'", "sent_delta", "phi += sent_delta[[1, 0]]");
  EXPECT_EQ(refused(other), "");
  EXPECT_SAYS(refused(other, Json::object(), 9), "line 6: IndexError");
  EXPECT_EQ(refused(step("8", "sent_delta", "phi += sent_delta[7]")), "");
  EXPECT_SAYS(refused(step("4", "sent_delta", "phi += sent_delta[7]")), "line 6: IndexError");
}

TEST_F(StepsInAScenario, ThatDoNotReturnAreNamedAndEnded) {
  std::vector<std::string> told;
  tell_of_slow_steps([&](const std::string& text) { told.push_back(text); });
  setenv("LONGHAUL_STEP_LIMIT", "1s", 1);
  const std::string said =
      refused("among = 'all'\nsends = ['weights']\ndef step(theta, mean_weights):\n    while True: pass\n");
  EXPECT_SAYS(said, "mine.py: its step has not returned for 1");
  EXPECT_SAYS(said, "LONGHAUL_STEP_LIMIT=1h");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_SAYS(told[0], "mine.py: its step has not returned for");
  EXPECT_SAYS(refused("while True: pass\n"), "mine.py: its step has not returned for 1") << "nor its import";
  setenv("LONGHAUL_STEP_LIMIT", "soon", 1);
  EXPECT_SAYS(refused(step("'all'", "mean_delta", kMean)), "LONGHAUL_STEP_LIMIT is \"soon\"");
  unsetenv("LONGHAUL_STEP_LIMIT");
  tell_of_slow_steps([](const std::string&) {});
}

TEST_F(StepsInAScenario, SayNothingToATerminalThatItCouldObey) {
  const std::string said =
      refused(step("'all'", "mean_delta", "raise ValueError('\\x1b[31mred\\x07\\x9b\\nnext \\udc80')"));
  EXPECT_SAYS(said, "line 6: ValueError: \\x1b[31mred\\x07\\x9b next \\udc80");
  EXPECT_EQ(said.find('\x1b'), std::string::npos);
}

// NaN out of finite numbers is the step's; NaN that came is a training's that diverges.
TEST_F(PythonStep, ThatMakesNanIsNamed) {
  const TemporaryFolder folder;
  write_text(folder.file("nan.py"),
             "among = 'all'\nsends = ['weights']\ndef step(theta, mean_weights):\n"
             "    theta[:] = mean_weights / (mean_weights != 7)\n");
  const MethodSpec method = in_python(folder.file("nan.py"));
  StartedBench bench(method, 2, 2);
  bench.set(Slot::kWeights, {1, 2, 3, 4});
  bench.run(rule_for({"weights"}));
  bench.set(Slot::kWeights, {1, 7, 3, 7});
  EXPECT_SAYS(said_by([&] { bench.run(rule_for({"weights"})); }),
              "nan.py, line 3: 2 of 4 numbers of theta are NaN or infinite after round");
  bench.set(Slot::kWeights, {1, NAN, 3, 4});
  bench.run(rule_for({"weights"}));
  EXPECT_TRUE(std::isnan(bench.table(Slot::kWeights)[1]));
}

}  // namespace longhaul::python_update_test
