// Whole trainings of a tiny model: what the replicas exchange, when, and what that does to their weights.
#include "trainer/training.h"

#include <cmath>
#include <map>

#include "tests/support/every_method.h"
#include "tests/support/said.h"
#include "tests/unit/trainer/support.h"
#include "trainer/data/dataset.h"

namespace longhaul::training_test {

const Json kDdp = {{"name", "ddp"}}, kIndependent = {{"name", "independent"}},
           kDiloco = {{"name", "diloco"}, {"inner_steps", 4}},
           kNoloco = {{"name", "noloco"}, {"inner_steps", 4}};

Json changed_training(const Json& method, const Json& train, int steps = 12) {
  return changed(small_scenario(method, steps), {{"train", train}});
}

// weight_spread by (step, phase).
std::map<std::pair<int, std::string>, double> spreads(const std::string& metrics) {
  std::map<std::pair<int, std::string>, double> found;
  for (const auto& row : table_of(metrics).rows)
    if (row[2] == "mean") found[{std::stoi(row[0]), row[1]}] = std::stod(row[5]);
  return found;
}

// The log of what was moved, fed by the rows, against the trace, written from the plan.
void expect_the_plans_trace(const Json& scenario) {
  SCOPED_TRACE(scenario["methods"].dump());
  const auto& [folder, config] = CaseInFolder(scenario);
  const std::vector<Json> log = lines_of(train(config, folder).exchanges);
  const Trace trace = trace_of(config);
  std::size_t at = 0;
  for (int step = 1; step <= config.train->steps; ++step)
    for (const Operation& exchange : trace.operations_at(step)) {
      ASSERT_LT(at, log.size());
      const Json& line = log[at++];
      EXPECT_EQ(line["step"], exchange.post_step);
      EXPECT_EQ(line["exchange"], exchange.rule->name);
      // Of sites with one replica each nobody meets anybody.
      const bool moves_something = !groups_of(exchange, config.replicas).empty();
      EXPECT_EQ(line["bytes"], moves_something ? exchange.bytes : 0);
      EXPECT_EQ(line["tensors"],
                Json(moves_something ? exchange.rule->tensors() : std::vector<std::string>{}));
      EXPECT_EQ(line["groups"], Json(sorted_groups(exchange, config.replicas)));
    }
  EXPECT_EQ(at, log.size());
}

class TrainerWalksThePlan : public testing::TestWithParam<Json> {};

TEST_P(TrainerWalksThePlan, LogOfExchangesIsThePlansTraceWholeAndInStages) {
  const Json whole = small_scenario(GetParam(), 14, "fp16");
  expect_the_plans_trace(whole);
  if (GetParam()["name"] == "ist" || GetParam()["name"] == "decoupled-diloco") return;  // they are not cut
  const Json pipeline = {{"stages", 2}, {"microbatches", 2}, {"routing", "random"}};
  expect_the_plans_trace(changed(whole, {{"pipeline", pipeline}}));
}

// Two replicas, and an odd number: a group needs its members, a grid must be a power, and targets be others.
TEST(Training, TwoReplicasAndThreeTrainWithEveryMethodThatAllowsThem) {
  int refused = 0;
  for (const int replicas : {2, 3})
    for (const Json& method : every_method(3)) {
      const Json scenario = changed(small_scenario(method, 7), {{"replicas", replicas}});
      const std::string name = method["name"];
      const bool is_impossible =
          replicas < method.value("group_size", 2) || (name == "moshpit" && replicas == 3) ||
          (name == "epidemic" && replicas == 2) || (method.contains("graph") && replicas == 2);
      if (!is_impossible) {
        expect_the_plans_trace(scenario);
        continue;
      }
      const InputError error = thrown_by([&] { method_named(name).check(case_of(scenario)); });
      ++refused;
      const std::string path = name == "epidemic" ? "method.targets" : "replicas";
      EXPECT_EQ(error.parts().path, name == "gasloc" ? "method.graph" : path) << error.what();
      EXPECT_SAYS(error.what(), " " + std::to_string(replicas) + " ");
    }
  EXPECT_EQ(refused, 3 + 2) << "epidemic, NoLoCo's groups of four and two neighbours with two; these groups "
                               "and the grid with three";
}

INSTANTIATE_TEST_SUITE_P(Methods, TrainerWalksThePlan, testing::ValuesIn(every_method(4)));
INSTANTIATE_TEST_SUITE_P(PairsBySites, TrainerWalksThePlan,
                         testing::Values(changed(kNoloco, {{"pairing", "sites"}}),
                                         changed(kNoloco, {{"pairing", "sites"}, {"pattern", "presend"}})));

TEST(Training, ExpertsOnTheirOwnPartOfTheTextAreOtherTrainings) {
  const Json shared = small_scenario(kIndependent),
             own = small_scenario(changed(kIndependent, {{"data", "own"}}));
  EXPECT_NE(train(own).metrics, train(shared).metrics);
  EXPECT_NE(training_key(case_of(own)), training_key(case_of(shared)));
  EXPECT_EQ(training_key(case_of(small_scenario(changed(kIndependent, {{"data", "shared"}})))),
            training_key(case_of(shared)));
  EXPECT_THROW(train(changed(own, {{"replicas", 4096}})), InputError) << "the parts are too short";
}

TEST(Training, ReplicasAgreeAlwaysWithDdpAndRightAfterAnOuterStepWithDiloco) {
  for (const auto& [at, spread] : spreads(train(small_scenario(kDdp)).metrics)) {
    EXPECT_EQ(spread, 0) << "step " << at.first;
    EXPECT_EQ(at.second, "plain");
  }
  const auto found = spreads(train(changed_training(kDiloco, {{"evaluate_every", 2}}, 10)).metrics);
  ASSERT_EQ(found.size(), 7u);
  for (const auto& [at, spread] : found)
    EXPECT_TRUE(at.second == "after" ? spread == 0 : spread > 0) << "step " << at.first;
  for (const int step : {2, 6, 10}) EXPECT_EQ(found.count({step, "plain"}), 1u);
  for (const int step : {4, 8}) EXPECT_EQ(found.count({step, "after"}), 1u);
}

TEST(Training, ThreadsLeaveTheBitsOfTheLoopWithEveryMethod) {
  for (const Json& method : every_method(3)) {
    const Json scenario = small_scenario(method, 8);
    const Trained loop = train(scenario);
    const bool at_all = method == kDdp || method["name"] == "noloco";
    for (int threads : at_all ? std::vector<int>{1, 2, 3, 7} : std::vector<int>{3}) {
      Trained again = train(scenario, threads);
      EXPECT_EQ(again.summary["backend"], threads > 1 ? "threads" : "loop");
      again.summary["backend"] = "loop";
      expect_same(again, loop, method.dump() + ", threads " + std::to_string(threads));
      EXPECT_EQ(loop.summary, again.summary) << method;
    }
  }
  EXPECT_NE(train(small_scenario(kDdp)).metrics, train(changed(small_scenario(kDdp), {{"seed", 2}})).metrics);
}

TEST(Training, SameBitsAtTheSizeOfTheQuickstart) {
  Json scenario = small_scenario(kNoloco, 4);
  scenario["train"]["model"] = {{"hidden", 96}, {"layers", 3}, {"heads", 4}, {"ffn", 256}, {"context", 128}};
  scenario["train"]["batch"] = 4;
  const std::string loop = train(scenario).metrics;
  for (int threads : {2, 4}) EXPECT_EQ(loop, train(scenario, threads).metrics) << threads;
}

TEST(Training, AddingAReplicaChangesNobodysData) {
  // Independent replicas: the first four of five are the four.
  const std::string four = train(small_scenario(kIndependent)).metrics;
  const std::string five = train(changed(small_scenario(kIndependent), {{"replicas", 5}})).metrics;
  const std::string rows = four.substr(four.find('\n') + 1, four.find("plain,mean") - four.find('\n') - 1);
  EXPECT_SAYS(five, rows.substr(0, rows.rfind('\n') + 1));
}

TEST(Training, LearnsTheSyntheticSourceDownToItsEntropyAndNotBelow) {
  const Json more = {{"batch", 8}, {"evaluate_sequences", 64}, {"evaluate_every", 80}};
  const Json summary = train(changed_training(kNoloco, more, 240), 2).summary;
  const double source = summary["source_entropy"], unigram = summary["unigram_entropy"],
               loss = summary["final_loss"];
  EXPECT_LT(loss, source + (unigram - source) / 2);
  EXPECT_GT(loss, source - 0.05);  // 768 validation tokens: two standard errors are about that
  EXPECT_EQ(summary["arena_bytes"], 4 * 6 * 4 * summary["parameters"].get<std::int64_t>());
  EXPECT_EQ(summary["tokens"], 240 * 8 * 12 * 4);
}

TEST(Training, InBf16TheSourceIsLearnedAsInFloat32) {
  const Json exact = train(small_scenario(kNoloco, 60)).summary,
             narrow = train(changed_training(kNoloco, {{"precision", "bf16"}}, 60)).summary;
  EXPECT_EQ(exact["precision"], "float32");
  EXPECT_EQ(narrow["precision"], "bf16");
  EXPECT_NE(narrow["final_loss"], exact["final_loss"]);
  EXPECT_NEAR(narrow["final_loss"], exact["final_loss"], 0.02 * exact["final_loss"].get<double>());
}

// 16 windows are two batches: with a and b their mean losses, the mean's standard error is |a - b| / 2.
TEST(Training, TheSamplingErrorIsThatOfTheBatchesMeans) {
  const auto& [folder, config] = CaseInFolder(changed_training(kIndependent, {{"evaluate_sequences", 16}}));
  const Trained trained = train(config, folder);
  const std::vector<Batch> batches = validation_batches(load_dataset(config).validation, *config.train);
  ASSERT_EQ(batches.size(), 2u);
  const Decoder decoder(config.train->model, Device::kCpu);
  double means[2] = {};
  for (std::size_t batch = 0; batch < 2; ++batch)
    for (const std::vector<float>& weights : trained.weights)
      means[batch] += decoder.loss(weights.data(), batches[batch]) / 4;
  EXPECT_GT(std::abs(means[0] - means[1]), 1e-4);
  EXPECT_NEAR(trained.summary["final_loss_sampling_error"], std::abs(means[0] - means[1]) / 2, 1e-9);
  EXPECT_NEAR(trained.summary["final_loss"], (means[0] + means[1]) / 2, 1e-9);

  const Json whole = train(changed_training(kIndependent, {{"evaluate_sequences", "all"}})).summary;
  EXPECT_FALSE(whole.contains("final_loss_sampling_error")) << "it is no sample";
  EXPECT_EQ(whole["evaluated_sequences"], (1000 - 1) / 12);  // a twentieth of 20,000 tokens
}

// Threads are ahead of each other when one finds it: the step and the replica are those of the loop.
TEST(Training, TheSameLossThatIsNotFiniteIsNamedWhateverTheThreads) {
  const Json optimizer = {{"lr", 1e30}, {"warmup", 100}};
  const Json scenario =
      changed_training(kIndependent, {{"optimizer", optimizer}, {"evaluate_every", 200}}, 200);
  const auto said = [&](int threads) { return said_by([&] { train(scenario, threads); }); };
  const std::string by_loop = said(1);
  EXPECT_SAYS(by_loop, "is not finite");
  for (int threads : {2, 3, 7}) EXPECT_EQ(said(threads), by_loop);
}

}  // namespace longhaul::training_test
