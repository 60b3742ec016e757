// Trainings on a GPU against those on the CPU; skipped where there is no GPU or the trainer has no CUDA.
#include <cmath>
#include <map>

#include "tests/support/every_method.h"
#include "tests/support/said.h"
#include "tests/unit/trainer/codec_support.h"
#include "tests/unit/trainer/compared_trainings.h"
#include "tests/unit/trainer/gpu_here.h"
#include "tests/unit/trainer/stacked_support.h"
#include "trainer/codecs/number_formats.h"
#include "trainer/cuda/captured_work.h"
#include "trainer/cuda/device_optimizer.h"
#include "trainer/cuda/device_table.h"
#include "trainer/device/device_products.h"
#include "trainer/operations/update.h"
#include "trainer/optimizer/muon.h"
#ifdef LONGHAUL_EMULATED_GPU
#include "tests/emulated_gpu/nccl.h"
#endif

namespace longhaul::gpu_test {

using testing_stacked::Replicas;
using testing_stacked::Result;

const Json kIndependent = {{"name", "independent"}}, kNoloco = {{"name", "noloco"}, {"inner_steps", 2}},
           kPresend = {{"name", "noloco"}, {"inner_steps", 2}, {"pattern", "presend"}};

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
  }
};

std::unique_ptr<Backend> stacked() {
  return make_stacked_backend(make_loop_backend());
}

void expect_near(const Trained& found, const Trained& expected, double relative, const std::string& what) {
  expect_losses(found, expected, relative, what);
  EXPECT_EQ(found.exchanges, expected.exchanges) << what;  // the same is moved, and logged
}

// Stacked, and replica by replica.
void expect_near_the_cpus(const Json& scenario, double relative, const std::string& what) {
  const Trained cpu = train(scenario);
  expect_near(stacked_on_gpu(scenario), cpu, relative, what);
  expect_near(train_on(Device::kCuda, make_loop_backend(), scenario), cpu, relative, what + ", the loop");
}

// Every step is evaluated; with "fp32" nothing is rounded that need not be.
Json evaluated(const Json& method, int steps, const char* wire = nullptr) {
  return changed(small_scenario(method, steps, wire), {{"train", {{"evaluate_every", 1}}}});
}

// One step and its exchange: 1e-5 relative is what the back-ends promise in float32. Where the mean itself is
// rounded, a last bit may move one of its numbers by a whole code, of all replicas at once.
TEST_F(Gpu, OneStepOfEachMethodIsTheCpusInFloat32) {
  for (const Json& method : every_method(1)) {
    const Json scenario = evaluated(method, 1, "fp32");
    const double relative = method.contains("reduction") ? 1e-4 : 1e-5;
    expect_near(stacked_on_gpu(scenario), train(scenario), relative, method.dump());
  }
}

// Twelve steps, of which ten are replayed graphs: errors grow from step to step, so the bound is wider. Of
// the last one no kernel takes the messages, which go through host memory and back.
TEST_F(Gpu, TwelveStepsStayNearTheCpus) {
  for (const Json& method : Json::parse(R"([
           {"name": "noloco", "inner_steps": 3}, {"name": "noloco", "inner_steps": 3, "pattern": "presend"},
           {"name": "muloco", "inner_steps": 3},
           {"name": "streaming-diloco", "inner_steps": 4, "fragments": 2, "overlap": 2, "outer_lr": 0.7,
            "outer_momentum": 0, "codec": {"top_k": {"chunk": 256, "kept": 16}},
            "error_feedback": "classic"}])"))
    expect_near_the_cpus(small_scenario(method, 12, "fp32"), 1e-3, method.dump());
}

void expect_stages_near_the_cpus(const Json& method, int layers, const Json& pipeline) {
  const Json train = {{"batch", pipeline.value("microbatches", 2)}, {"model", {{"layers", layers}}}};
  expect_near_the_cpus(changed(evaluated(method, 4, "fp32"), {{"train", train}, {"pipeline", pipeline}}),
                       1e-4, pipeline.dump() + method.dump());
}

// Micro-batches on their paths, and what passes between parts in as few numbers as there are: a sign and a
// scale, which no rounding of the GPU's sums changes.
TEST_F(Gpu, StagesAreTheCpusInFloat32) {
  for (const char* routing : {"straight", "random"}) {
    for (const char* activations : {"wire", "sign"})
      for (const Json& method : {kIndependent, kNoloco, kPresend})
        expect_stages_near_the_cpus(
            method, 2,
            {{"stages", 2}, {"microbatches", 2}, {"routing", routing}, {"activations", activations}});
    // Parts that a micro-batch leaves out, and neighbours that it takes in the other order.
    for (const char* paths : {"scheduled", "random"}) {
      const Json partial = {{"stages", 5}, {"microbatches", 4}, {"routing", routing},
                            {"skip", 1},   {"reorder", true},   {"paths", paths}};
      expect_stages_near_the_cpus(kIndependent, 5, partial);
    }
  }
  expect_stages_near_the_cpus(
      kNoloco, 3, {{"stages", 3}, {"activations", {"wire", "sign"}}, {"gradients", {"sign", "wire"}}});
}

// The optimizer leaves the weights in bf16 too; an exchange after each step, on the card or through the host,
// changes them behind it. With the weights of before the exchange the losses are others by 6e-3 and more.
TEST_F(Gpu, InBf16ProductsTakeTheWeightsThatAnExchangeLeft) {
  for (const char* method : {"diloco", "muloco", "sparta"}) {
    Json scenario = evaluated({{"name", method}, {"inner_steps", 1}}, 6);
    scenario["train"]["precision"] = "bf16";
    expect_near(stacked_on_gpu(scenario), train(scenario), 1e-3, method);
  }
}

// Losses are read when the next step has begun; the message names the step all the same. A rate that makes
// numbers overflow, in steps with nothing between them, and in steps whose gradients are exchanged.
TEST_F(Gpu, ALossThatIsNotFiniteNamesItsStepAsOnTheCpu) {
  for (const Json& method : {Json{{"name", "diloco"}, {"inner_steps", 9}}, Json{{"name", "ddp"}}}) {
    Json scenario = small_scenario(method, 9);
    scenario["train"]["optimizer"] = {{"lr", 1e30}, {"warmup", 0}};
    scenario["train"]["evaluate_every"] = 9;
    const std::string expected = said_by([&] { train(scenario); });
    EXPECT_SAYS(expected, "is not finite");
    EXPECT_EQ(said_by([&] { stacked_on_gpu(scenario); }), expected);
  }
}

// In the program that is linked with a card's LibTorch, without a card too (bare_build_test.sh).
TEST(ProcessorBesideACard, Trains) {
  EXPECT_GT(train(small_scenario(kNoloco, 2)).exchanges.size(), 0U);
}

TEST_F(Gpu, SameBitsAgain) {
  for (const char* precision : {"float32", "bf16"})
    for (const char* method : {"noloco", "muloco"}) {
      Json scenario = small_scenario({{"name", method}, {"inner_steps", 3}}, 12);
      scenario["train"]["precision"] = precision;
      EXPECT_EQ(stacked_on_gpu(scenario).metrics, stacked_on_gpu(scenario).metrics) << precision;
    }
}

// Rows with gaps, matrices with gaps between them, every way of reading them.
TEST_F(Gpu, ProductsAreTheirDefinition) {
  constexpr int kBatch = 3, kM = 16, kN = 24, kK = 40, kGap = 8;
  const auto products = make_device_products();
  RandomStream stream(3, Purpose::kTrainingData);
  std::vector<std::uint16_t> bits[2];
  for (std::vector<std::uint16_t>& operand : bits)
    for (int i = 0; i < kBatch * (48 * 48 + 2 * kGap); ++i)  // each operand fits
      operand.push_back(to_bf16(static_cast<float>(stream.normal())));
  const DeviceTable<std::uint16_t> a(bits[0]), b(bits[1]);
  const auto operand = [&](const DeviceTable<std::uint16_t>& table, int rows, int columns, bool transposed) {
    const std::int64_t stride = (transposed ? rows : columns) + kGap;
    return ProductOperand{table.get(), stride, stride * (transposed ? columns : rows) + 2 * kGap, transposed};
  };
  const auto at = [&](int number, const ProductOperand& of, int matrix, int row, int column) {
    const std::int64_t place = matrix * of.batch_stride + (of.transposed ? column : row) * of.stride +
                               (of.transposed ? row : column);
    return static_cast<double>(from_bf16(bits[number][as_index(place)]));
  };
  for (const int way : {0, 1, 2, 3})
    for (const auto& [is_float, adds] : {std::pair{false, false}, {true, false}, {true, true}}) {
      const ProductOperand left = operand(a, kM, kK, way & 1), right = operand(b, kK, kN, way & 2);
      const DeviceTable<float> result(std::vector<float>(kBatch * kM * (kN + kGap), 0.5f));
      const BatchedProduct product{kBatch,           kM,       kN,  kK, left, right, result.get(), kN + kGap,
                                   kM * (kN + kGap), is_float, adds};
      for (int time = 0; time < 2; ++time)  // the first of a shape tries kernels, and must leave the same
        ASSERT_TRUE(products->multiply(product, nullptr));
      wait_for_device();
      const std::vector<float> found = result.read();
      const auto* narrow = reinterpret_cast<const std::uint16_t*>(found.data());
      for (int matrix = 0; matrix < kBatch; ++matrix)
        for (int row = 0; row < kM; ++row)
          for (int column = 0; column < kN + kGap; ++column) {
            const std::size_t place = as_index((matrix * kM + row) * (kN + kGap) + column);
            if (column >= kN) {  // nothing is written between
              EXPECT_TRUE(!is_float || found[place] == 0.5f);
              continue;
            }
            double expected = 0, size = 0;
            for (int k = 0; k < kK; ++k) {
              const double term = at(0, left, matrix, row, k) * at(1, right, matrix, k, column);
              expected += term, size += std::abs(term);
            }
            if (adds) expected = 0.5 + 2 * expected;
            EXPECT_NEAR(is_float ? found[place] : from_bf16(narrow[place]), expected,
                        is_float ? 1e-5 * (1 + size) : std::abs(expected) / 256 + 1e-5 * size)
                << "way " << way << ", " << row << ", " << column;
          }
    }
}

// The last evaluation of a training on the card, against the host's own of the rows that came back. Of equal
// rows, of rows that differ, of a product beside the weights; a last batch that is smaller.
TEST_F(Gpu, EvaluationsAreTheHostsOfTheSameRows) {
  for (const Json& method : {Json{{"name", "ddp"}}, kPresend, Json{{"name", "delayed-nesterov"}},
                             Json{{"name", "single"}}, Json{{"name", "sparta"}}})
    for (const bool is_stacked : {true, false}) {
      SCOPED_TRACE(method.dump() + (is_stacked ? ", stacked" : ", loop"));
      const auto& [folder, config] =
          CaseInFolder(changed(small_scenario(method, 5, "fp32"), {{"train", {{"evaluate_sequences", 19}}}}));
      ProgressReporter silent("test", -1, true);
      TrainingFiles files(folder.file("out"), true);
      Training training(config, Device::kCuda, is_stacked ? stacked() : make_loop_backend(), files, silent);
      files.finish(training.run());

      const std::unique_ptr<Backend> loop = make_loop_backend();
      const Case trained = trained_case(config);
      const Decoder decoder(trained.train->model, Device::kCpu);
      Evaluator host(decoder, validation_batches(load_dataset(trained).validation, *trained.train), true,
                     training.arena(), *loop, one_rank(), make_update(trained.method)->product());
      const std::vector<int> all = training.arena().held().replicas();
      const Evaluation expected = host.evaluate(5, "", all);
      const CsvTable found = read_csv(folder.file("out/metrics.csv"));
      ASSERT_GT(found.rows.size(), all.size());
      const auto* line = &found.rows[found.rows.size() - all.size() - 1];
      for (const int replica : all)
        EXPECT_NEAR(std::stod(line[replica][3]), expected.losses[as_index(replica)],
                    1e-6 * expected.losses[0]);
      EXPECT_NEAR(std::stod(line[all.size()][4]), expected.loss_of_mean, 1e-6 * expected.loss_of_mean);
      EXPECT_EQ(std::stod(line[all.size()][5]), expected.weight_spread) << "the bits of the host";
    }
}

// What a training on `size` ranks leaves, on one card or (emulated) each on its own: tables, log, and the
// bytes of each replica's rows of all slots, of which the files keep the weights alone.
std::vector<std::string> left_by_ranks(const Json& scenario, int size, bool own_cards = false) {
  const CaseInFolder in(scenario);
  std::vector<std::string> left(as_index(in.config.replicas));
  ThreadRanks::run(size, [&](Ranks& ranks) {
    use_one_thread();
    if (own_cards) use_device(ranks.rank());
    ProgressReporter silent("test", -1, true);
    TrainingFiles files(in.folder.file("out"), ranks.is_first());
    Training training(in.config, Device::kCuda, make_loop_backend(), files, silent, ranks);
    files.finish(training.run());
    const Arena& arena = training.arena();
    for (const int r : arena.held().replicas())
      for (const Slot slot : {Slot::kWeights, Slot::kFirstMoment, Slot::kSecondMoment, Slot::kSlowWeights,
                              Slot::kOuterMomentum})
        if (arena.has(slot))
          left[as_index(r)].append(reinterpret_cast<const char*>(arena.row(slot, r)),
                                   sizeof(float) * as_index(arena.parameters()));
  });
  for (const char* name : {"out/metrics.csv", "out/exchanges.jsonl"})
    left.push_back(read_text(in.folder.file(name)));
  return left;
}

class GpuRanks : public Gpu, public testing::WithParamInterface<Json> {};

// Ranks exchange rows that kernels packed, or, where there is none for a method, the tables through host
// memory, where the host's updates do the step; one process does it on the GPU. With fp16 many small
// differences are rounded to a zero with a sign.
TEST_P(GpuRanks, LeaveTheBytesOfOneProcess) {
  for (const char* wire : {"bf16", "fp16"}) {
    const Json train = {{"optimizer", {{"lr", 1e-6}}}},
               scenario = changed(small_scenario(GetParam(), 12, wire), {{"replicas", 8}, {"train", train}});
    const std::vector<std::string> whole = left_by_ranks(scenario, 1);
    for (const int size : {2, 4})
      EXPECT_EQ(left_by_ranks(scenario, size), whole) << size << " ranks, " << wire;
  }
}

#ifdef LONGHAUL_EMULATED_GPU
// With a card each, over an NCCL of the tests' own (tests/emulated_gpu/nccl.h).
class GpuRanksOverNccl : public Gpu, public testing::WithParamInterface<Json> {};

TEST_P(GpuRanksOverNccl, LeaveTheBytesOfOneProcess) {
  for (const char* wire : {"fp32", "bf16"}) {
    const Json scenario = changed(small_scenario(GetParam(), 12, wire), {{"replicas", 8}});
    const std::vector<std::string> whole = left_by_ranks(scenario, 1);
    for (const int size : {2, 4}) {
      const int before = emulated_nccl_messages;
      EXPECT_EQ(left_by_ranks(scenario, size, true), whole) << size << " ranks, " << wire;
      EXPECT_GT(emulated_nccl_messages, before);
      const int between = emulated_nccl_messages;
      EXPECT_EQ(left_by_ranks(scenario, size), whole) << size << " ranks on one card, " << wire;
      EXPECT_EQ(emulated_nccl_messages, between);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, GpuRanksOverNccl,
                         testing::Values(Json{{"name", "ddp"}}, Json{{"name", "diloco"}, {"inner_steps", 4}},
                                         Json{{"name", "noloco"}, {"inner_steps", 4}},
                                         Json{{"name", "noloco"}, {"inner_steps", 4}, {"group_size", 4}},
                                         Json{{"name", "local-sgd"}, {"inner_steps", 3}}));
#endif

INSTANTIATE_TEST_SUITE_P(Methods, GpuRanks, testing::ValuesIn(every_method_of_replicas(4)));
INSTANTIATE_TEST_SUITE_P(WithoutMomentum, GpuRanks,
                         testing::Values(Json{{"name", "noloco"}, {"inner_steps", 4}, {"alpha", 0}}));

// Stopped after so many calls of its back-end, the training is resumed to the bits of `whole`. Returns the
// step of the checkpoint that was the newest then, -1 without one.
int expect_resumed(const Json& scenario, const Trained& whole, int calls) {
  const auto& [folder, config] = CaseInFolder(scenario);
  try {
    train_with(config, folder, Device::kCuda, std::make_unique<Stops>(calls, stacked()));
  } catch (const std::runtime_error&) {
  }
  const std::vector<int> steps = checkpoint_steps(folder.file("out/checkpoints"));
  expect_same(train_with(config, folder, Device::kCuda, stacked(), true), whole,
              scenario["methods"].dump() + ", " + std::to_string(calls));
  return steps.empty() ? -1 : steps[0];
}

TEST_F(Gpu, ResumesToTheSameBits) {
  const Json scenario = changed(small_scenario(kPresend, 12), {{"train", {{"checkpoint_every", 5}}}});
  const int newest = expect_resumed(scenario, stacked_on_gpu(scenario), 10);
  EXPECT_TRUE(newest == 5 || newest == 10) << newest;
}

// Checkpoints are written while the training continues, from rows in host memory that exchanges without a
// kernel change at the next step: each checkpoint has to be of one step.
TEST_F(Gpu, ACheckpointThatIsBeingWrittenIsOfOneStep) {
  for (const char* method : {"gossip", "epidemic"}) {
    Json scenario = small_scenario({{"name", method}, {"inner_steps", 1}}, 8);
    scenario["train"]["model"]["hidden"] = 64;
    scenario["train"]["checkpoint_every"] = 1;
    const Trained whole = stacked_on_gpu(scenario);
    for (const int calls : {12, 18, 24}) EXPECT_GE(expect_resumed(scenario, whole, calls), 0);
  }
}

// The weights after each step are those of a training that ends there, at a rate that does not change.
TEST_F(Gpu, ChangedValuesAreThoseOfTheRowsOnTheCard) {
  const auto scenario_of = [](int steps) {
    const Json rate = {{"lr", 1e-4}, {"min_lr", 1e-4}, {"warmup", 0}};
    return changed(small_scenario(kIndependent, steps),
                   {{"train", {{"changed_values_every", 1}, {"checkpoint_every", 2}, {"optimizer", rate}}}});
  };
  const char* const file = "out/changed_values.csv";
  const auto& [whole, config] = CaseInFolder(scenario_of(5));
  train_with(config, whole, Device::kCuda, stacked());
  std::vector<std::vector<float>> before(4, initial_weights(config.train->model, config.seed));
  std::map<std::pair<int, int>, double> shares;  // by step and replica
  for (const auto& row : read_csv(whole.file(file)).rows)
    if (row[2] == "all") shares[{std::stoi(row[0]), std::stoi(row[1])}] = std::stod(row[3]);
  for (int step = 1; step <= 5; ++step) {
    const std::vector<std::vector<float>> now = stacked_on_gpu(scenario_of(step)).weights;
    for (std::size_t r = 0; r < now.size(); ++r) {
      int different = 0;
      for (std::size_t i = 0; i < now[r].size(); ++i)
        different += to_bf16(now[r][i]) != to_bf16(before[r][i]);
      EXPECT_GT(different, 0);
      EXPECT_EQ(shares.at({step, static_cast<int>(r)}), different / static_cast<double>(now[r].size()));
    }
    before = now;
  }
  for (const int calls : {6, 12, 18}) {
    const TemporaryFolder folder;
    try {
      train_with(config, folder, Device::kCuda, std::make_unique<Stops>(calls, stacked()));
    } catch (const std::runtime_error&) {
    }
    train_with(config, folder, Device::kCuda, stacked(), true);
    EXPECT_EQ(read_text(folder.file(file)), read_text(whole.file(file))) << calls;
  }
}

// With heads of 64 numbers, which fused attention takes where LibTorch has it, and a context of several of
// its blocks, in which it adds in any order unless it is asked not to.
TEST_F(Gpu, FusedAttentionGivesTheSameBitsAgain) {
  const Replicas replicas({128, 2, 2, 128, 512, 64}, 1, 2, 0.05);
  const Decoder decoder(replicas.shape, Device::kCuda, Precision::kBf16);
  const Result first = replicas.one_by_one(decoder);
  for (int i = 0; i < 3; ++i) testing_stacked::expect_same_bits(replicas.one_by_one(decoder), first);
}

TEST_F(Gpu, GradientsAreThoseOfTheLoop) {
  const auto expect_loops = [](const Replicas& replicas, Precision precision, double bound) {
    SCOPED_TRACE(bound);
    expect_near(replicas.one_by_one(Decoder(replicas.shape, Device::kCuda, precision)), replicas.one_by_one(),
                replicas, 1e-3, bound);
  };
  expect_loops({{96, 3, 4, 256, 65, 256}, 2, 4, 0.1}, Precision::kFloat32, 1e-5);
  expect_loops({{256, 3, 4, 512, 128, 256}, 3, 2, 0.02}, Precision::kBf16, 2e-2);
}

#ifdef LONGHAUL_WITH_CUDA
// On tables in the card's memory.
Result run_on_gpu(const StackedDecoder& decoder, const Replicas& replicas) {
  const DeviceTable<float> weights(replicas.weights);
  const DeviceTable<std::int64_t> tokens(replicas.tokens);
  const DeviceTable<float> gradients(std::vector<float>(replicas.weights.size(), 123.f));
  const DeviceTable<double> losses(as_index(replicas.replicas));
  CapturedWork(false).run([&] {
    decoder.run({weights.get(), gradients.get(), tokens.get(), replicas.token_stride(), losses.get(),
                 replicas.replicas, replicas.sequences});
  });
  wait_for_device();
  return {losses.read(), gradients.read()};
}

// The first step of Muon from zero, so that the weights are the orthogonalized gradients: in float32 those of
// the host, in bf16 to the rounding of its products.
TEST_F(Gpu, MuonsStepIsTheHostsToTheRoundingOfItsPrecision) {
  const ModelShape shape{96, 2, 4, 256, 16, 32};
  OptimizerSpec spec;
  spec.name = InnerOptimizer::kMuon;
  spec.momentum = 0.95;
  spec.newton_schulz_steps = 5;
  const std::vector<MuonMatrix> matrices = muon_matrices(shape, spec);
  const auto count = as_index(shape.parameters());
  const Row gradient = uneven_row(shape.parameters(), 3);
  Row expected(count), moment(count);
  muon_step(spec, 1, 1, matrices, {expected.data(), gradient.data(), moment.data()});
  for (const Precision precision : {Precision::kFloat32, Precision::kBf16}) {
    const DeviceTable<float> weights(count), gradients(gradient), first(count), second(count),
        factors(std::vector<float>{1});
    DeviceMuon muon(spec, matrices,
                    {weights.get(), gradients.get(), first.get(), second.get(), 1, shape.parameters()},
                    precision);
    CapturedWork graph(false);
    graph.on_its_stream([&](CudaStream stream) { muon.set(1, stream); });
    graph.run([&] { muon.run(factors.get(), current_cuda_stream()); });
    wait_for_device();
    const double relative =
        relative_difference({{}, weights.read()}, {{}, expected}, Replicas(shape, 1, 1, 0), 0);
    EXPECT_LT(relative, precision == Precision::kBf16 ? 2e-2 : 1e-5);
    EXPECT_EQ(relative > 1e-4, precision == Precision::kBf16) << "products in the other precision";
  }
}

// 1,500 classes, of which most do not occur and some do often: their gradient is a sum over equal tokens.
// Once more with memory for less than one sequence, where layers are computed again.
TEST_F(Gpu, ManyClassesAndLayersComputedAgainAreTheLoops) {
  for (const int classes : {1500, 2500}) {  // kept in registers, and read twice
    const ModelShape shape{96, 2, 4, 256, 65, classes};
    const Replicas replicas(shape, 2, 1, 0.05);
    const Result loop = replicas.one_by_one();
    for (const Precision precision : {Precision::kFloat32, Precision::kBf16}) {
      const StackedDecoder all(shape, Device::kCuda, precision), again(shape, Device::kCuda, precision, 1);
      ASSERT_TRUE(again.piece_of(2, 1, true).recomputes);
      const double bound = precision == Precision::kBf16 ? 2e-2 : 1e-5;
      expect_near(run_on_gpu(all, replicas), loop, replicas, 1e-3, bound);
      expect_near(run_on_gpu(again, replicas), loop, replicas, 1e-3, bound);
    }
  }
}
#endif

}  // namespace longhaul::gpu_test
