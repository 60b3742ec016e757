// Independent subnetwork training: a replica's zeros are a subnetwork exactly, and a training of full width
// with zeros is one of narrow models that exchange their units, written apart here.
#include <cmath>
#include <map>
#include <numeric>

#include "core/base/errors.h"
#include "core/plan/hidden_units.h"
#include "tests/unit/trainer/operation_support.h"
#include "tests/unit/trainer/random_model.h"
#include "tests/unit/trainer/support.h"
#include "trainer/codecs/number_formats.h"
#include "trainer/commands.h"
#include "trainer/data/dataset.h"
#include "trainer/model/stacked_decoder.h"
#include "trainer/optimizer/adamw.h"

namespace longhaul::ist_test {
using Row = std::vector<float>;

Json ist(Json more = Json::object()) {
  Json method = {{"name", "ist"}, {"inner_steps", 4}, {"unit_outputs", "sum"}};
  method.update(more);
  return method;
}

Json scenario_of(const Json& method, int replicas, int ffn, int steps, const char* wire = "fp32") {
  Json scenario = small_scenario(method, steps, wire);
  scenario["replicas"] = replicas;
  scenario["train"]["model"]["ffn"] = ffn;
  return scenario;
}

// Of the columns of the whole model.
std::vector<int> owners_of(const ModelShape& shape, std::uint64_t seed, int replicas, int round) {
  return column_owners(seed, ffn_units(parameter_layout(shape)), replicas, round, shape.parameters());
}

bool is_anothers(int owner, int replica) {
  return owner != kShared && owner != replica;
}

// Exactly zero for each unit of others, by each decoder; for none of the columns of one's own in all.
TEST(Ist, NothingFlowsThroughTheUnitsOfOthers) {
  constexpr ModelShape kShape{12, 2, 3, 10, 7, 11};
  const Batch batch = random_batch(kShape, 3);
  const std::vector<int> owners = owners_of(kShape, 4, 3, 0);
  for (int replica = 0; replica < 3; ++replica) {
    Row weights = random_weights<float>(kShape, 3);
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (is_anothers(owners[i], replica)) weights[i] = 0;
    std::vector<Row> gradients(3, Row(weights.size(), 123.f));
    Decoder(kShape, Device::kCpu).loss_and_gradient(weights.data(), gradients[0].data(), batch);
    double loss = 0;
    for (const Precision precision : {Precision::kFloat32, Precision::kBf16})
      StackedDecoder(kShape, Device::kCpu, precision, std::int64_t{1} << 30)
          .run({weights.data(), gradients[precision == Precision::kBf16 ? 2 : 1].data(), batch.tokens.data(),
                static_cast<std::int64_t>(batch.tokens.size()), &loss, 1, batch.sequences});
    for (const Row& gradient : gradients) {
      int own_zeros = 0;
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        ASSERT_EQ(gradient[i], is_anothers(owners[i], replica) ? 0 : gradient[i]) << i;
        own_zeros += owners[i] == replica && gradient[i] == 0;
      }
      EXPECT_EQ(own_zeros, 0);
    }
  }
}

struct Rows {
  Row weights, first, second;
};

// Models that have only the hidden columns of one replica, as the workers of the paper have them, with an
// optimizer each; units go to their next owners by hand. [P] of the whole model.
Row trained_narrow(const Case& config, int rounds) {
  const TrainSpec& train = *config.train;
  const Dataset data = load_dataset(config);
  const int every = config.method.options.at("inner_steps");
  std::vector<DecayRange> decay;
  for (const Parameter& parameter : parameter_layout(train.model))
    decay.push_back({parameter.offset, parameter.offset + parameter.size(), !parameter.is_norm});
  Row whole = initial_weights(train.model, config.seed);
  std::vector<Rows> kept(as_index(config.replicas), {whole, Row(whole.size()), Row(whole.size())});
  for (int round = 0; round < rounds; ++round) {
    const std::vector<int> owners = owners_of(train.model, config.seed, config.replicas, round);
    for (int replica = 0; replica < config.replicas; ++replica) {
      Rows& rows = kept[as_index(replica)];
      rows.weights = whole;
      std::vector<std::size_t> columns;  // of the whole model, in the order of the narrow one
      for (std::size_t i = 0; i < owners.size(); ++i) {
        if (!is_anothers(owners[i], replica)) columns.push_back(i);
        if (owners[i] != kShared) rows.first[i] = rows.second[i] = 0;
      }
      ModelShape shape = train.model;
      while (as_index(shape.parameters()) > columns.size()) --shape.ffn;
      EXPECT_EQ(as_index(shape.parameters()), columns.size()) << "the same width in each layer";
      const Decoder decoder(shape, Device::kCpu);
      Row narrow(columns.size()), narrow_gradient(columns.size()), gradient(whole.size());
      for (int step = round * every + 1; step <= (round + 1) * every; ++step) {
        for (std::size_t i = 0; i < columns.size(); ++i) narrow[i] = rows.weights[columns[i]];
        decoder.loss_and_gradient(narrow.data(), narrow_gradient.data(),
                                  training_batch(data.training, train, config.seed, replica, step));
        for (std::size_t i = 0; i < columns.size(); ++i) gradient[columns[i]] = narrow_gradient[i];
        const double norm = row_norm(narrow_gradient.data(), shape.parameters());
        adamw_step(train.optimizer, learning_rate(train.optimizer, step, train.steps), step,
                   clip_factor(norm, train.optimizer.clip), decay,
                   {rows.weights.data(), gradient.data(), rows.first.data(), rows.second.data()});
      }
    }
    for (std::size_t i = 0; i < whole.size(); ++i) {
      double sum = 0;
      for (const Rows& rows : kept) sum += rows.weights[i];
      whole[i] = owners[i] == kShared ? static_cast<float>(sum / config.replicas)
                                      : kept[as_index(owners[i])].weights[i];
    }
  }
  return whole;
}

// Nine hidden columns, three rounds, of which the third ends three steps before the training. The model that
// is evaluated and exported is the whole one of the last round that ended: at step 15 that of step 12.
TEST(Ist, IsNarrowModelsThatExchangeTheirUnitsAndItsProductIsTheWholeModel) {
  const auto& [folder, config] = CaseInFolder(scenario_of(ist(), 3, 9, 15));
  train(config, folder);
  const Row expected = trained_narrow(config, 3), start = initial_weights(config.train->model, config.seed);
  ASSERT_EQ(run_export({folder.file("out"), 1, false, folder.file("model")}), 15);
  const StoredTensors exported = read_safetensors(folder.file("model/model.safetensors")),
                      kept = read_safetensors(folder.file("out/checkpoints/step-15.safetensors"));
  const Row found = floats_of(kept.at("slow_weights"));
  ASSERT_EQ(found.size(), 3 * expected.size());
  double moved = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i % expected.size()], 2e-5) << i;
    moved += std::abs(found[i] - start[i % start.size()]);
  }
  EXPECT_GT(moved / static_cast<double>(found.size()), 1e-2) << "500 times the tolerance";
  for (const Parameter& parameter : parameter_layout(config.train->model))
    EXPECT_EQ(
        exported.at(huggingface_name(parameter.name)).bytes,
        kept.at("slow_weights").bytes.substr(as_index(4 * parameter.offset), as_index(4 * parameter.size())))
        << parameter.name;

  std::map<std::string, std::string> loss;  // by step and phase
  const CsvTable table = read_csv(folder.file("out/metrics.csv"));
  for (const auto& row : table.rows) {
    EXPECT_EQ(loss.emplace(row[0] + row[1], row[3]).first->second, row[3]) << "one model";
    EXPECT_EQ(row[2] == "mean" ? std::stod(row[table.column("weight_spread")]) : 0, 0);
  }
  EXPECT_EQ(loss.at("8before"), loss.at("4after"));
  EXPECT_NE(loss.at("8after"), loss.at("8before"));
  EXPECT_EQ(loss.at("15plain"), loss.at("12after"));
}

// 97 columns over 3 replicas, rounded to bf16; twice, since the owners change. Where outputs are averaged,
// the weights that read a unit, those of down, stand in the whole model divided by N, and in θ as sent.
TEST(Ist, EachColumnComesFromItsOwnerAndTheOthersAreTheMean) {
  for (const char* outputs : {"sum", "mean"}) {
    SCOPED_TRACE(outputs);
    const Case config = case_of(scenario_of(ist({{"unit_outputs", outputs}}), 3, 97, 20, "bf16"));
    const ModelShape& shape = config.train->model;
    const OperationPlan plan = trained_plan_of(config);
    const PlanContext context{config.seed, 3, config.train->steps, shape.parameters()};
    UpdateBench bench(config.method, 3, shape.parameters());
    bench.update->follow(plan, context);
    std::uint64_t drawn = 0;
    for (int replica = 0; replica < 3; ++replica)
      for (const Slot slot : {Slot::kWeights, Slot::kFirstMoment, Slot::kSecondMoment})
        bench.set(slot, replica, random_weights<float>(shape, ++drawn));
    bench.update->start(bench.all);
    Row parts(as_index(shape.parameters()), 1);
    for (const Parameter& parameter : parameter_layout(shape))
      if (outputs == std::string("mean") && parameter.name.find("feed_forward.down") != std::string::npos)
        std::fill_n(parts.begin() + parameter.offset, parameter.size(), 3.f);
    for (int number = 0; number < 2; ++number) {
      const std::vector<int> before = owners_of(shape, config.seed, 3, number),
                             after = owners_of(shape, config.seed, 3, number + 1);
      ASSERT_NE(before, after);
      std::vector<Row> weights, first;
      for (int replica = 0; replica < 3; ++replica) {
        weights.push_back(bench.row(Slot::kWeights, replica));
        first.push_back(bench.row(Slot::kFirstMoment, replica));
        const Row phi = bench.row(Slot::kSlowWeights, replica);
        for (std::size_t i = 0; i < before.size(); ++i) {
          const bool is_gone = is_anothers(before[i], replica);
          const float weight = weights.back()[i];
          ASSERT_EQ(weight == 0 && before[i] != kShared, is_gone) << i;
          ASSERT_TRUE(is_gone || phi[i] == weight / parts[i]) << i;
        }
      }
      for (const Operation& operation : operations_at(plan, context, 4 * (number + 1)))
        bench.runner.run(operation);
      for (int replica = 0; replica < 3; ++replica) {
        const Row phi = bench.row(Slot::kSlowWeights, replica), theta = bench.row(Slot::kWeights, replica),
                  moment = bench.row(Slot::kFirstMoment, replica);
        for (std::size_t i = 0; i < phi.size(); ++i) {
          const auto sent = [&](int owner) { return from_bf16(to_bf16(weights[as_index(owner)][i])); };
          const bool is_shared = before[i] == kShared;
          const float whole = is_shared ? (sent(0) + sent(1) + sent(2)) / 3 : sent(before[i]);
          ASSERT_EQ(phi[i], whole / parts[i]) << i;
          ASSERT_EQ(theta[i], is_anothers(after[i], replica) ? 0 : whole) << i;
          ASSERT_EQ(moment[i], is_shared ? first[as_index(replica)][i] : 0) << i;
        }
      }
    }
    // Units of 48 columns: 33 in one layer and 32 in the other are the most that a replica owns.
    for (const ExchangeRecord& record : bench.log.records())
      EXPECT_EQ(record.bytes,
                record.exchange == "units" ? 2 * 48 * (33 + 32) : 2 * (shape.parameters() - 2 * 48 * 97));
  }
}

// A unit is one weight here, and the seed is one that draws the owners of the history.
TEST(Ist, FollowsTheHandWorkedHistory) {
  const Json history = golden("ist.json");
  PlanContext context{1, 2, 8, 3};
  const auto owners = [&] {
    Json drawn;
    for (int round = 0; round < 3; ++round) drawn.push_back(unit_owners(context.seed, 2, 0, 2, round));
    return drawn;
  };
  while (owners() != history["owners"]) ++context.seed;

  OperationPlan plan{{OperationRule(), OperationRule()}};
  for (OperationRule& rule : plan.rules) {
    rule.every = 4;
    rule.payload = whole({"weights"}, Wire::kFp32);
  }
  plan.rules[0].payload[0].columns = {{0, 1}};
  plan.rules[1].payload[0].columns = {{1, 3}};
  plan.rules[1].kind = OperationKind::kAllToAll;
  plan.rules[1].units = {{2, {{1, 1, 1, 0, 1}}}};
  UpdateBench bench({"ist", "ist", {{"unit_outputs", "sum"}}}, 2, 3);
  for (int replica = 0; replica < 2; ++replica) bench.set(Slot::kWeights, replica, history["start"]);
  bench.update->follow(plan, context);
  bench.update->start(bench.all);
  for (int replica = 0; replica < 2; ++replica) {
    EXPECT_EQ(bench.row(Slot::kSlowWeights, replica), history["start"].get<Row>());
    EXPECT_EQ(bench.row(Slot::kWeights, replica), history["theta_at_start"][as_index(replica)].get<Row>());
  }
  int step = 0;
  for (const Json& round : history["rounds"]) {
    for (int replica = 0; replica < 2; ++replica)
      bench.set(Slot::kWeights, replica, round["trained"][as_index(replica)]);
    for (const Operation& operation : operations_at(plan, context, step += 4)) bench.runner.run(operation);
    for (int replica = 0; replica < 2; ++replica) {
      EXPECT_EQ(bench.row(Slot::kSlowWeights, replica), round["phi"].get<Row>()) << step;
      EXPECT_EQ(bench.row(Slot::kWeights, replica), round["theta"][as_index(replica)].get<Row>()) << step;
    }
  }
}

// In the middle of a round, with AdamW and Muon: still zero, moments too.
TEST(Ist, WhatIsOthersStaysZeroWhileAReplicaTrains) {
  for (const char* optimizer : {"adamw", "muon"}) {
    const auto& [folder, config] = CaseInFolder(
        changed(scenario_of(ist(), 2, 9, 15), {{"train", {{"optimizer", {{"name", optimizer}}}}}}));
    ProgressReporter silent("test", -1, true);
    use_one_thread();
    TrainingFiles files(folder.file("out"));
    Training training(config, Device::kCpu, make_loop_backend(), files, silent);
    training.run();
    const std::vector<int> owners = owners_of(config.train->model, config.seed, 2, 3);
    for (int replica = 0; replica < 2; ++replica)
      for (const Slot slot : {Slot::kWeights, Slot::kFirstMoment, Slot::kSecondMoment, Slot::kGradient})
        for (std::size_t i = 0; i < owners.size(); ++i)
          if (is_anothers(owners[i], replica)) {
            ASSERT_EQ(training.arena().row(slot, replica)[i], 0) << slot.name;
          }
  }
}

// On a caller's tensors: of a model of one layer, two replicas and six hidden columns.
TEST(Ist, AnOuterStepOfACallersTensorsDealsTheUnitsOfSeedAndStep) {
  const TemporaryFolder folder;
  const ModelShape shape{4, 1, 2, 6, 8, 3};
  const std::string model =
      R"({"hidden": 4, "layers": 1, "heads": 2, "ffn": 6, "context": 8, "vocabulary": 3})";
  const auto columns = as_index(shape.parameters());
  Row theta(2 * columns);
  std::iota(theta.begin(), theta.end(), 1.f);
  StoredTensors tensors;
  for (const char* name : {"theta", "phi", "first_moment", "second_moment"})
    tensors[name] = store(theta, {2, shape.parameters()});
  write_safetensors(folder.file("in"), tensors);
  const auto run = [&](int step, const std::string& of_model, std::uint64_t seed = 5) {
    run_outer_step(
        {"ist", folder.file("in"), folder.file("out"), "fp32", {"inner_steps=10"}, step, 0, seed, of_model});
    return floats_of(read_safetensors(folder.file("out")).at("theta"));
  };
  const Row found = run(30, model);
  const std::vector<int> before = owners_of(shape, 5, 2, 2), after = owners_of(shape, 5, 2, 3);
  for (std::size_t replica = 0; replica < 2; ++replica)
    for (std::size_t i = 0; i < columns; ++i) {
      const float mean = (theta[i] + theta[columns + i]) / 2;
      const float whole = before[i] == kShared ? mean : theta[as_index(before[i]) * columns + i];
      EXPECT_EQ(found[replica * columns + i], is_anothers(after[i], static_cast<int>(replica)) ? 0 : whole);
    }
  EXPECT_NE(run(30, model, 6), found);
  EXPECT_THROW(run(31, model), InputError);
  for (const char* wrong : {"", R"({"hidden": 6})", "hidden"}) EXPECT_THROW(run(30, wrong), InputError);
}

}  // namespace longhaul::ist_test
