// What `longhaul check` counts, against closed forms; and how work is divided.
#include "checks/work_estimate.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "checks/validated_scenario.h"
#include "cli/core_speed.h"
#include "cli/machine.h"
#include "core/base/errors.h"
#include "core/scenario/training_text.h"
#include "tests/support/files.h"
#include "tests/support/said.h"

namespace longhaul::work_estimate_test {

Json scenario_of(int steps, const Json& methods) {
  return {{"name", "estimated"},
          {"replicas", 4},
          {"methods", methods},
          {"workload", {{"parameters", 1000000}, {"steps", steps}}},
          {"network", {{"topology", {{"star", {{"rate", "1Gbps"}, {"rtt", "50ms"}}}}}}}};
}

Scenario validated(const Json& scenario) {
  const TemporaryFolder folder;
  write_text(folder.file("scenario.json"), scenario.dump());
  return validated_scenario(folder.file("scenario.json"), {});
}

// A ring among 4 is 2·3·4 = 24 transfers, after every tenth step: 10^8 steps take no longer than a few.
TEST(ReplayEstimateOfManySteps, IsScaledUpFromTheFirstOnes) {
  const Json diloco = {{{"name", "diloco"}, {"inner_steps", 10}}};
  for (const int steps : {1000, 100000000}) {
    const ReplayEstimate replay = replay_estimate(validated(scenario_of(steps, diloco)).cases[0]);
    EXPECT_EQ(replay.transfers, 24LL * steps / 10);
    // Each replica sends 2·3/4 of 2 bytes a parameter.
    EXPECT_EQ(replay.payload_bytes, 4LL * 2 * 3 * 2 * 1000000 / 4 * steps / 10);
  }
  const Json rare = {{{"name", "diloco"}, {"inner_steps", 300000}}};  // than the steps which are walked
  EXPECT_EQ(replay_estimate(validated(scenario_of(30000000, rare)).cases[0]).transfers, 100 * 24);
}

// hidden 8, ffn 16, one layer, 256 tokens: 2·256·8 + (4·64 + 3·8·16 + 2·8) + 8 = 4760 parameters.
const Json kTiny = {{"hidden", 8}, {"layers", 1}, {"heads", 2}, {"ffn", 16}, {"context", 4}};
const Json kDdp = {{{"name", "ddp"}}}, kDiloco5 = {{{"name", "diloco"}, {"inner_steps", 5}}};

Json trained(const Json& model, const Json& methods = kDdp) {
  Json scenario = scenario_of(10, methods);
  scenario["workload"] = Json::object();
  scenario["train"] = {{"steps", 10}, {"batch", 1}, {"model", model}};
  scenario["train"]["data"] = {{"synthetic", {{"tokens", 1000000}}}};
  return scenario;
}

TrainingMemory memory_of(const Json& scenario) {
  return training_memory(validated(scenario).cases[0], 2);
}

// The estimate points into the plan, and that into the scenario.
struct Estimated {
  explicit Estimated(const Json& json) : scenario(validated(json)) {}
  const Scenario scenario;
  const WorkPlan plan = plan_work(scenario);
  const WorkEstimate work = estimate_work(plan, 1, 2, keeps_tables(scenario));
};

// Weights, gradient and two moments; slow weights with a momentum. `single` trains one replica for all.
TEST(TrainingMemory, TablesAreOfWhatTheMethodKeeps) {
  EXPECT_EQ(memory_of(trained(kTiny)).tables, 16. * 4760 * 4);
  EXPECT_EQ(memory_of(trained(kTiny, kDiloco5)).tables, 24. * 4760 * 4);
  EXPECT_EQ(memory_of(trained(kTiny, {{{"name", "single"}}})).tables, 16. * 4760);
}

// Attention keeps two numbers for each head and pair of tokens: 8 sequences of an evaluation, two replicas at
// a time. Measured for 4 heads and 2048 tokens: 2.9 GB; for 4096 (hidden 64, ffn 128): 9.4 GB.
TEST(TrainingMemory, GrowsWithTheSquareOfTheContext) {
  const auto bytes = [](int hidden, int ffn, int context) {
    const Json model = {{"hidden", hidden}, {"layers", 2}, {"heads", 4}, {"ffn", ffn}, {"context", context}};
    return memory_of(trained(model)).together();
  };
  EXPECT_NEAR(bytes(128, 256, 2048), 2.88e9, 0.1 * 2.88e9);
  EXPECT_NEAR(bytes(64, 128, 4096), 9.40e9, 0.1 * 9.40e9);
}

// Two bytes a token, and a byte of a text is a token. Measured with linux-source-6.1, 163 MB: noloco among
// 256 replicas takes 980 MB, of which 743 were foreseen without the text.
TEST(TrainingMemory, HoldsTheText) {
  const TemporaryFolder folder;
  for (const char* name : {"a.txt", "b.txt"}) write_text(folder.file(name), std::string(30000, 'a'));
  Json scenario = trained({{"hidden", 8}, {"heads", 2}});
  const TrainingMemory memory = memory_of(scenario);
  scenario["train"]["data"] = {{"text", {folder.file("*.txt")}}};
  EXPECT_EQ(memory_of(scenario).text, 2. * 60000);
  EXPECT_EQ(memory.text, 2e6);
  EXPECT_EQ(memory.together() - memory.tables - memory.passes - memory.text, 200e6) << "the program";
}

// Without tables the disk holds those of the case that is being replayed, and no more with more cases.
TEST(WorkEstimate, TotalsAloneTakeLittleDisk) {
  const auto bytes = [](const char* tables, const Json& connections) {
    Json scenario = scenario_of(1000, kDdp);
    scenario["tables"] = tables;
    scenario["sweep"] = {{"network.tcp.connections", connections}};
    return Estimated(scenario).work.disk_bytes;
  };
  // 4,000 exchanges and as many steps, of 30 bytes a row at least.
  EXPECT_GT(bytes("all", {1, 2}) - bytes("all", {1}), 8000 * 30);
  EXPECT_LT(bytes("totals", {1, 2}) - bytes("totals", {1}), 40e3);
}

TEST(Machine, RefusesWhatItsMemoryCannotHold) {
  const Json model = {{"hidden", 1024}, {"layers", 200}, {"heads", 8}, {"ffn", 4096}};
  const Estimated estimated(trained(model, kDiloco5));
  const WorkEstimate& work = estimated.work;
  ASSERT_GT(work.memory_bytes, 64e9);
  EXPECT_SAYS(said_by([&] { check_memory(work, "", 64e9, /*gpu_here=*/false); }),
              "the 64 GB of this machine");  // the rest of its words: tests/data/bad_scenarios.json
  EXPECT_NO_THROW(check_memory(work, "", work.memory_bytes, false));
  EXPECT_NO_THROW(check_memory(work, "cuda", 64e9, false)) << "that is the card's affair";
  EXPECT_NO_THROW(check_memory(work, "", 64e9, /*gpu_here=*/true)) << "auto takes the card";
  EXPECT_THROW(check_memory(work, "cpu", 64e9, /*gpu_here=*/true), InputError);
}

// ulimit -v: OpenBLAS asks for memory without end where it gets none.
TEST(Machine, RefusesATrainingThatDoesNotFitIntoTheAddressSpace) {
  const Estimated tiny(trained(kTiny));
  EXPECT_NO_THROW(check_address_space(tiny.work, 2e9));
  EXPECT_SAYS(said_by([&] { check_address_space(tiny.work, 204.8e6); }),
              "limited to 205 MB here (ulimit -v)");
  EXPECT_NO_THROW(check_address_space({}, 204.8e6)) << "nothing is trained";
}

TEST(Machine, SaysWhatItHas) {
  EXPECT_GT(memory_here().value_or(0), 1e8);
  EXPECT_EQ(free_disk("/").value_or(0) > 0, true);
  EXPECT_TRUE(free_disk("/a/folder/that/is/not/there").has_value()) << "of the nearest that is";
}

// Only whether the folder is there: this machine may have a corpus or not.
TEST(Machine, ACorpusThatIsNotHereIsNamedWithTheScriptThatBringsIt) {
  for (const InstalledCorpus& corpus : {kLinuxSource, kDebianProse}) {
    Json scenario = trained(kTiny);
    scenario["train"]["data"] = {{"corpus", corpus.name}};
    const Scenario valid = validated(scenario);
    try {
      check_corpora(plan_work(valid), "file.json");
      EXPECT_TRUE(std::filesystem::is_directory(corpus.folder));
    } catch (const InputError& error) {
      EXPECT_FALSE(std::filesystem::exists(corpus.folder));
      EXPECT_EQ(error.parts().path, "train.data.corpus");
      EXPECT_SAYS(error.what(), std::string("run ") + corpus.script);
    }
  }
}

TEST(Warnings, OfFilesThatAreTrainedOnAndValidatedOn) {
  const TemporaryFolder folder;
  for (const char* name : {"one.txt", "two.txt"}) write_text(folder.file(name), std::string(2000, 'a'));
  const auto warnings = [&](const Json& validation) {
    Json scenario = trained({{"hidden", 8}, {"ffn", 16}});
    scenario["train"]["data"] = {{"text", {folder.file("*.txt")}}, {"validation", validation}};
    return join(scenario_warnings(validated(scenario)), "\n");
  };
  write_text(folder.file("held"), std::string(2000, 'b'));
  EXPECT_EQ(warnings({folder.file("held")}), "");
  const std::string said = warnings({folder.file("held"), folder.path + "/./two.txt"});
  EXPECT_SAYS(said, "two.txt is in train.data.text too");
  EXPECT_EQ(said.find("held is in"), std::string::npos) << said;
}

TEST(Warnings, OfMixturesOfExpertsWhoseComputeCountsAll) {
  Json scenario = Json::parse(R"({"replicas": 2, "methods": [{"name": "ddp"}],
    "workload": {"parameters": 671026404352, "tokens": 8192, "steps": 10,
                 "step_time": {"flops": {"peak": 1e15}}},
    "network": {"topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}}})");
  const auto warnings = [&] { return join(scenario_warnings(validated(scenario)), "\n"); };
  EXPECT_SAYS(warnings(), "DeepSeek-V3, a mixture of experts of which 37 G compute a token");
  EXPECT_SAYS(warnings(), "give workload.active_parameters");
  scenario["workload"]["active_parameters"] = 37000000000;
  EXPECT_EQ(warnings().find("experts"), std::string::npos) << warnings();
  scenario["workload"]["step_time"] = {{"constant", "1s"}};
  EXPECT_SAYS(warnings(), "workload.active_parameters does not count");
  scenario["workload"].erase("active_parameters");
  EXPECT_EQ(warnings().find("experts"), std::string::npos) << "compute is given";
}

// One seed of the quickstart on two networks.
class WorkPlanOfTwo : public testing::Test {
 protected:
  const Scenario scenario_ =
      validated_scenario(LONGHAUL_SOURCE_DIR "/scenarios/quickstart.json",
                         {"seeds=[1]", R"(sweep={"network.tcp.connections": [1, 8]})"});
  const WorkPlan whole_ = plan_work(scenario_);
};

TEST_F(WorkPlanOfTwo, ATrainingForEachMethodAndACaseForEachNetwork) {
  EXPECT_EQ(whole_.trainings.size(), 3u);
  EXPECT_EQ(whole_.cases.size(), 6u);
  for (const Training& training : whole_.trainings) EXPECT_EQ(training.cases.size(), 2u);
  // A part has the trainings of its cases.
  const WorkPlan part = part_of(whole_, {whole_.trainings[1].cases[1]->name});
  ASSERT_EQ(part.cases.size(), 1u);
  ASSERT_EQ(part.trainings.size(), 1u);
  EXPECT_EQ(part.trainings[0].key, whole_.trainings[1].key);
  EXPECT_EQ(part.trainings[0].cases, part.cases);
  // Which case trains what several share does not depend on the part: its case.json has the same bytes.
  EXPECT_EQ(part.trainings[0].example, whole_.trainings[1].cases[0]);
}

TEST_F(WorkPlanOfTwo, ShardsAreAPartitionAndShareNoTraining) {
  std::multiset<std::string> cases, trainings;
  for (const char* shard : {"1/2", "2/2"}) {
    const WorkPlan plan = part_of(whole_, cases_of_shard(whole_, shard));
    for (const Case* config : plan.cases) cases.insert(config->name);
    for (const Training& training : plan.trainings) trainings.insert(training.key);
  }
  for (const auto& [all, count] : {std::pair(cases, 6u), {trainings, 3u}}) {
    EXPECT_EQ(all.size(), count);
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), count) << "each once";
  }
  std::size_t of_seven = 0;  // more than there are trainings: four are empty
  for (int i = 1; i <= 7; ++i) of_seven += !cases_of_shard(whole_, std::to_string(i) + "/7").empty();
  EXPECT_EQ(of_seven, 3u);
  for (const char* wrong : {"", "2", "0/3", "4/3", "a/b", "1/2/3", "-1/2"})
    EXPECT_THROW(cases_of_shard(whole_, wrong), InputError) << wrong;
}

// The longest first, each to the emptiest: 7 | 5; 4 to the second (9), 4 to the first (11), 3 to the second.
TEST(Shard, AreCutByCost) {
  EXPECT_EQ(shards_by_cost({4, 7, 3, 5, 4}, 2), (std::vector<int>{1, 0, 1, 1, 0}));
  EXPECT_EQ(shards_by_cost({1, 1, 1}, 2), (std::vector<int>{0, 1, 0})) << "alike: in their order";
  EXPECT_EQ(shards_by_cost({2, 9}, 1000000000), (std::vector<int>{1, 0}));
  EXPECT_EQ(shards_by_cost({}, 3), std::vector<int>());
  // By the estimates: a training of 20,000 steps takes longer than three of at most 30 together.
  const Scenario scenario =
      validated_scenario(LONGHAUL_SOURCE_DIR "/scenarios/small.json",
                         {R"(methods=[{"name": "ddp"}])", R"(sweep={"train.steps": [10, 20000, 20, 30]})"});
  const WorkPlan whole = plan_work(scenario);
  EXPECT_EQ(cases_of_shard(whole, "1/2"), (std::set<std::string>{"ddp,train.steps=20000"}));
  EXPECT_EQ(cases_of_shard(whole, "2/2").size(), 3u);
}

// Microseconds of one core a token, measured (results/reference/speed/trainer.md); no evaluations to speak
// of.
TEST(WorkEstimate, TrainingsTakeWhatWasMeasured) {
  const struct {
    int hidden, layers, heads, ffn, context;
    double measured_us;
  } models[] = {{48, 2, 4, 96, 64, 15.9},
                {64, 2, 4, 192, 128, 27.7},
                {128, 4, 4, 384, 128, 121.1},
                {256, 4, 8, 768, 128, 409}};
  for (const auto& model : models) {
    Json scenario = Json::parse(read_text(LONGHAUL_SOURCE_DIR "/scenarios/small.json"));
    scenario["methods"] = Json::array({{{"name", "ddp"}}});
    scenario["train"].merge_patch(
        {{"steps", 1000}, {"batch", 4}, {"evaluate_every", 1000}, {"evaluate_sequences", 1}});
    scenario["train"]["model"] = {{"hidden", model.hidden},
                                  {"layers", model.layers},
                                  {"heads", model.heads},
                                  {"ffn", model.ffn},
                                  {"context", model.context}};
    const double measured_s = 1e-6 * model.measured_us * 1000 * 4 * 4 * model.context / 2;  // on two cores
    const Scenario valid = validated(scenario);
    EXPECT_NEAR(estimate_work(plan_work(valid), 1, 2, true).training_s, 0.5 + measured_s, 0.1 * measured_s)
        << model.hidden;
    // Without instructions for it: widths of 128 and 384 took 15 and 19 times as long.
    scenario["train"]["precision"] = "bf16";
    EXPECT_NEAR((estimate_work(plan_work(validated(scenario)), 1, 2, true).training_s - 0.5) / measured_s, 17,
                2)
        << model.hidden;
  }
}

// Between a processor without vectors and one that nobody has built yet: a loop that is optimized away has no
// such speed.
TEST(CoreSpeed, IsThatOfAProcessor) {
  EXPECT_GT(core_flops(), 1e9);
  EXPECT_LT(core_flops(), 2e12);
  // The pace was measured before; a core is not three times as fast a moment later.
  const double flops_of_reference = training_pace() * core_flops();
  EXPECT_GT(flops_of_reference, 103e9 / 3);
  EXPECT_LT(flops_of_reference, 103e9 * 3);
}

}  // namespace longhaul::work_estimate_test
