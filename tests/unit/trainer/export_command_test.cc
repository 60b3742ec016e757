#include <cmath>

#include "tests/support/said.h"
#include "tests/unit/trainer/exported_llama.h"
#include "tests/unit/trainer/support.h"
#include "trainer/commands.h"
#include "trainer/data/dataset.h"

namespace longhaul::export_command_test {

class ExportCommand : public testing::Test {
 protected:
  // Steps so large that every weight has moved far from its start, replicas apart.
  static Json scenario() {
    Json scenario = small_scenario({{"name", "independent"}}, 60);
    scenario["train"]["optimizer"]["lr"] = 0.1;
    return scenario;
  }
  void SetUp() override { train(one_, folder_); }

  ExportedLlama exported(std::optional<int> replica) {
    const std::string out = folder_.file("model");
    EXPECT_EQ(run_export({folder_.file("out"), replica, !replica, out}), 60);
    return ExportedLlama(out);
  }

  // What is said against it.
  static std::string refused(const ExportArguments& arguments) {
    return said_by([&] { run_export(arguments); });
  }

  // The validation loss of the exported model, as the trainer evaluates it.
  double loss_of(const ExportedLlama& model) const {
    double sum = 0;
    int sequences = 0;
    const auto length = static_cast<std::size_t>(one_.train->model.context) + 1;
    for (const Batch& batch : validation_batches(load_dataset(one_).validation, *one_.train))
      for (int s = 0; s < batch.sequences; ++s, ++sequences) {
        const auto first = batch.tokens.begin() + static_cast<std::ptrdiff_t>(length) * s;
        sum += model.loss({first, first + static_cast<std::ptrdiff_t>(length)});
      }
    return sum / sequences;
  }

  // A cell of the last rows of metrics.csv.
  double last_metric(const std::string& replica, const std::string& column) const {
    const CsvTable table = read_csv(folder_.file("out/metrics.csv"));
    double value = 0;
    for (const auto& row : table.rows)
      if (row[table.column("replica")] == replica) value = std::stod(row[table.column(column)]);
    return value;
  }

  TemporaryFolder folder_;
  const Case one_ = only_case(scenario(), folder_);
};

// Replica 3 is gone from step 30 on.
TEST_F(ExportCommand, AReplicaAsTransformersReadsItHasItsLossAndWhoIsGoneIsNotExported) {
  Schedule schedule;
  schedule.has_all = true;
  schedule.absences = Absences({{3, 30, 29, -1, 0, 0}}, plan_context(one_), false);
  train_with(one_, folder_, Device::kCpu, make_loop_backend(), false, scheduled(schedule));
  EXPECT_NEAR(loss_of(exported({})), last_metric("mean", "loss_of_mean"), 1e-5) << "of the other three";
  for (const char* replica : {"0", "2"})
    EXPECT_NEAR(loss_of(exported(std::stoi(replica))), last_metric(replica, "loss"), 1e-5);
  EXPECT_GT(std::abs(last_metric("0", "loss") - last_metric("2", "loss")), 2e-5);
  EXPECT_THROW(run_export({folder_.file("out"), 3, false, folder_.file("model")}), InputError);
}

TEST_F(ExportCommand, NamesShapesAndConfigurationAreThoseOfLlamaForCausalLM) {
  const ExportedLlama model = exported(3);  // the last, where nobody is gone
  EXPECT_NEAR(loss_of(model), last_metric("3", "loss"), 1e-5);
  EXPECT_EQ(model.tensors().size(), 2u * 9 + 3) << "ExportedLlama has found those that there have to be";
  using Shape = std::vector<std::int64_t>;
  for (const auto& item : model.tensors()) {
    const auto has = [&](const char* part) { return item.first.find(part) != std::string::npos; };
    const std::int64_t rows = has("gate_proj") || has("up_proj") ? 24 : 16,
                       columns = has("down_proj") ? 24 : 16;
    EXPECT_EQ(item.second.shape, has("norm") ? Shape{16} : (Shape{rows, columns})) << item.first;
    EXPECT_EQ(item.second.dtype, "F32");
  }
  const Json expected = Json::parse(R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
      "intermediate_size": 24, "num_key_value_heads": 2, "max_position_embeddings": 12, "vocab_size": 16,
      "tie_word_embeddings": false, "rope_theta": 10000})");
  for (const auto& [key, value] : expected.items()) EXPECT_EQ(model.config().at(key), value) << key;
  // transformers refuses a file without it.
  EXPECT_SAYS(read_text(folder_.file("model/model.safetensors")), R"("__metadata__":{"format":"pt"})");
}

// A manifest as `longhaul run` writes it; train/KEY of seed 2 is the training of this test.
TEST_F(ExportCommand, FindsACheckpointByItsFileAndATrainingOfARunByItsMethodAndSeed) {
  const std::string run = folder_.file("run"), model = folder_.file("model");
  std::filesystem::create_directories(run + "/train");
  std::filesystem::create_directory_symlink(folder_.file("out"), run + "/train/a-22");
  write_text(run + "/manifest.json",
             R"({"trainings": {"a-11": {"label": "a", "seed": 1}, "a-22": {"label": "a", "seed": 2},
                               "b-33": {"label": "b", "seed": 2}}})");
  EXPECT_EQ(run_export({folder_.file("out/checkpoints/step-60.json"), 0, false, model}), 60);
  EXPECT_EQ(run_export({run, 0, false, model, "a", 2}), 60);
  const std::string several = refused({run, 0, false, model, "a", {}});
  EXPECT_SAYS(several, "2 of the 3 trainings");
  EXPECT_SAYS(several, "a, seed 1: " + run + "/train/a-11; a, seed 2: " + run + "/train/a-22");
  EXPECT_EQ(several.find("b-33"), std::string::npos);
  EXPECT_SAYS(refused({run, 0, false, model, "c", {}}),
              "--method: no training of \"" + run + "\" has \"c\"; allowed: a, b");
  EXPECT_SAYS(refused({run, 0, false, model, "b", 7}),
              "--seed: no training of \"" + run + "\" has 7; allowed: 2");
  EXPECT_SAYS(refused({folder_.file("out"), 0, false, model, "a", 2}), "no run directory");
  // Another label has the same training: the run's summary says so.
  EXPECT_SAYS(refused({run, 0, false, model, "a-ahead", 2}), "has \"a-ahead\"; allowed: a, b");
  write_text(run + "/summary.json", R"({"cases": [{"label": "a", "seed": 2, "training": "a-22"},
                                                  {"label": "a-ahead", "seed": 2, "training": "a-22"}]})");
  EXPECT_EQ(run_export({run, 0, false, model, "a-ahead", 2}), 60);
  EXPECT_EQ(run_export({run, 0, false, model, "a", 2}), 60);
}

TEST_F(ExportCommand, RefusesWhatIsNotThere) {
  const std::string run = folder_.file("out"), out = folder_.file("model");
  EXPECT_SAYS(refused({run, 4, false, out}), "0 … 3");
  EXPECT_SAYS(refused({run, -1, false, out}), "--replica");
  EXPECT_SAYS(refused({run, 1, true, out}), "either");
  EXPECT_SAYS(refused({run, {}, false, out}), "either");
  EXPECT_SAYS(refused({folder_.path, 0, false, out}), "no whole checkpoint");
  std::string tensors = read_text(run + "/checkpoints/step-60.safetensors");
  tensors[tensors.size() - 5] ^= 1;
  write_text(run + "/checkpoints/step-60.safetensors", tensors);
  EXPECT_SAYS(refused({run, 0, false, out}), "is damaged");
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace longhaul::export_command_test
