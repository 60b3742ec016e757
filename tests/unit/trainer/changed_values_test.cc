// How many values of a replica's weights a step changes in bf16.
#include "trainer/changed_values.h"

#include <cmath>
#include <map>
#include <random>

#include "tests/unit/trainer/compared_trainings.h"
#include "trainer/optimizer/adamw.h"

namespace longhaul::changed_values_test {

const char* const kTable = "out/changed_values.csv";
const Json kDdp = {{"name", "ddp"}}, kIndependent = {{"name", "independent"}};

// By hand: the 24 bits of a significand as a whole number, of which the upper eight are kept; a tie goes to
// the even one. Of normal numbers.
double in_bf16(float weight) {
  if (weight == 0) return 0;
  const int exponent = std::ilogb(weight);
  const auto significand = static_cast<std::int64_t>(std::ldexp(std::abs(double{weight}), 23 - exponent));
  std::int64_t kept = significand / 65536;
  const std::int64_t rest = significand % 65536;
  if (rest > 32768 || (rest == 32768 && kept % 2 == 1)) ++kept;
  return std::copysign(std::ldexp(static_cast<double>(kept), exponent - 7), weight);
}

// 2^(e-7) of |w| in [2^e, 2^(e+1)).
double unit_of(float weight) {
  return std::ldexp(1., std::ilogb(weight) - 7);
}

bool has_changed(float now, float then) {
  return in_bf16(now) != in_bf16(then);
}

double share_by_hand(const std::vector<float>& now, const std::vector<float>& then, std::int64_t begin,
                     std::int64_t end) {
  int changed = 0;
  for (std::int64_t i = begin; i < end; ++i) changed += has_changed(now[as_index(i)], then[as_index(i)]);
  return changed / static_cast<double>(end - begin);
}

struct Shares {
  double in_step, since_row;
};
using Table = std::map<std::tuple<int, int, std::string>, Shares>;  // by step, replica and part

Table read_table(const std::string& file) {
  const CsvTable csv = read_csv(file);
  EXPECT_EQ(csv.header, (std::vector<std::string>{"step", "replica", "part", "share", "share_since_row"}));
  Table table;
  for (const auto& row : csv.rows)
    table[{std::stoi(row[0]), std::stoi(row[1]), row[2]}] = {std::stod(row[3]), std::stod(row[4])};
  EXPECT_EQ(table.size(), csv.rows.size());
  return table;
}

// A constant learning rate, so that a shorter training is the beginning of a longer one.
Json scenario_of(const Json& method, int steps, int every, double lr = 1e-4) {
  const Json optimizer = {{"lr", lr}, {"min_lr", lr}, {"warmup", 0}, {"weight_decay", 0}, {"clip", 0}};
  return changed(small_scenario(method, steps, "fp32"),
                 {{"train", {{"optimizer", optimizer}, {"changed_values_every", every}}}});
}

// Rows [R, P] of a model of 2 hidden, 1 layer, 1 wide feed-forward and 2 tokens: embedding 4, attention.norm
// 2, query, key, value and output 4 each, feed_forward.norm 2, gate, up and down 2 each, norm 2, output 4.
class ChangedValuesOfRows : public testing::Test {
 protected:
  ChangedValuesOfRows() : files_(folder_.file("out")) { files_.begin(); }

  void set(int replica, const std::vector<float>& weights) {
    ASSERT_EQ(weights.size(), 36u);
    std::copy(weights.begin(), weights.end(), arena_.row(Slot::kWeights, replica));
  }
  Table table() {
    files_.save();
    return read_table(folder_.file(kTable));
  }

  const ModelShape shape_{2, 1, 1, 1, 2, 2};
  TemporaryFolder folder_;
  TrainingFiles files_;
  std::unique_ptr<Backend> backend_ = make_loop_backend();
  Arena arena_{slots_with({}), 2, 36};
  ExchangeLog log_{nullptr};
  Replicas replicas_{arena_, *backend_, log_};
};

// 1 + k/128 are neighbours; 1 + 1/256 is halfway, and goes to 1, which is even, as 1 + 3/256 goes to 1 +
// 2/128.
TEST_F(ChangedValuesOfRows, AValueHasChangedWhereItsRoundingHas) {
  ASSERT_EQ(shape_.parameters(), 36);
  std::vector<float> weights(36, 1.f);
  for (int replica = 0; replica < 2; ++replica) set(replica, weights);
  ChangedValues values(1, shape_, replicas_, files_);
  weights[0] = 1 + 1 / 256.f;     // embedding: as before
  weights[1] = 1 + 1.01f / 256;   // another
  weights[4] = 1 - 0.99f / 512;   // norm: as before
  weights[6] = 1 - 1.01f / 512;   // attention: another, below 1 they are 1/256 apart
  weights[7] = -1;                // its sign alone
  weights[24] = 0;                // feed_forward
  weights[25] = 1 + 2.99f / 256;  // another: 1 + 1/128
  weights[34] = 1 + 3 / 256.f;    // output: another, 1 + 2/128
  set(0, weights);
  values.look(1, {0, 1});
  weights[24] = -0.f;             // its sign
  weights[25] = 1 + 1.1f / 256;   // the same
  weights[34] = 1 + 2.99f / 256;  // back to 1 + 1/128
  set(0, weights);
  values.look(2, {0});
  const std::map<std::string, std::pair<double, double>> expected = {
      {"all", {6 / 36., 2 / 36.}}, {"embedding", {1 / 4., 0}},         {"norm", {0, 0}},
      {"attention", {2 / 16., 0}}, {"feed_forward", {2 / 6., 1 / 6.}}, {"output", {1 / 4., 1 / 4.}}};
  const Table found = table();
  EXPECT_EQ(found.size(), 3 * expected.size()) << "of who is there";
  for (const auto& [part, shares] : expected) {
    EXPECT_EQ(found.at({1, 0, part}).in_step, shares.first) << part;
    EXPECT_EQ(found.at({2, 0, part}).in_step, shares.second) << part;
    EXPECT_EQ(found.at({2, 0, part}).since_row, shares.second) << part;
    EXPECT_EQ(found.at({1, 1, part}).in_step, 0) << part;
  }
}

// What a step changed may be what an earlier one had changed: since the row it is as it was.
TEST_F(ChangedValuesOfRows, ARowComparesWithTheStepBeforeAndWithTheLastRow) {
  std::vector<float> weights(36, 1.f);
  const auto look = [&](ChangedValues& values, int step, int column, float weight) {
    weights[as_index(column)] = weight;
    set(0, weights);
    if (values.looks_at(step)) values.look(step, {0});
  };
  set(0, weights);
  ChangedValues values(3, shape_, replicas_, files_);
  for (const int step : {1, 4, 7}) EXPECT_FALSE(values.looks_at(step));
  for (const int step : {2, 3, 5, 6}) EXPECT_TRUE(values.looks_at(step));
  look(values, 1, 0, 2);
  look(values, 2, 1, 2);
  look(values, 3, 1, 1);  // back again
  look(values, 4, 2, 2);
  look(values, 5, 3, 2);
  look(values, 6, 2, 1);
  const Table found = table();
  EXPECT_EQ(found.at({3, 0, "all"}).in_step, 1 / 36.);
  EXPECT_EQ(found.at({3, 0, "all"}).since_row, 1 / 36.) << "the first one";
  EXPECT_EQ(found.at({6, 0, "all"}).in_step, 1 / 36.);
  EXPECT_EQ(found.at({6, 0, "all"}).since_row, 1 / 36.) << "the fourth one";
}

TEST_F(ChangedValuesOfRows, AgreeWithARoundingByHand) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> exponent(-20, 3);
  std::vector<float> before(36), after(36);
  for (auto& weight : before) weight = std::ldexp(normal(random), exponent(random));
  set(0, before);
  ChangedValues values(1, shape_, replicas_, files_);
  std::map<bool, int> seen;
  for (int step = 1; step <= 200; ++step) {
    for (std::size_t i = 0; i < after.size(); ++i) {
      after[i] = before[i] * (1 + 0.003f * normal(random));
      ++seen[has_changed(after[i], before[i])];
    }
    set(0, after);
    values.look(step, {0});
    before = after;
  }
  const Table found = table();
  EXPECT_GT(std::min(seen[false], seen[true]), 1000);
  double sum = 0;
  for (int step = 1; step <= 200; ++step) sum += found.at({step, 0, "all"}).in_step;
  EXPECT_NEAR(sum * 36, seen[true], 1e-6);
}

// The first step is lr * sign(g), so that a value changes where a boundary is nearer than lr on that side.
TEST_F(ChangedValuesOfRows, AdamwsFirstStepChangesWhatIsWithinItsRateOfABoundary) {
  const double lr = 1e-6;
  OptimizerSpec adamw;
  adamw.lr = lr;
  const float w = 0x1p-6f, boundary = w + 0x1p-14f;  // halfway between w and its neighbour, w + 2^-13
  std::vector<float> weights(36, w), gradient(36, 0.25f), first(36), second(36);
  weights[0] = boundary + 0.5e-6f;                        // down across it
  weights[1] = boundary + 1.5e-6f;                        // not so far
  weights[2] = boundary - 0.5e-6f, gradient[2] = -7;      // up across it
  weights[3] = boundary - 0.5e-6f;                        // away from it
  weights[4] = boundary - 1.5e-6f, gradient[4] = -7e-3f;  // not so far
  weights[5] = 0x1p-14f, gradient[5] = 3;                 // a unit below it of 2^-22 < lr: always
  weights[6] = boundary + 0.5e-6f, gradient[6] = 0;       // without a gradient never
  set(0, weights), set(1, weights);
  ChangedValues values(1, shape_, replicas_, files_);
  for (const auto& [replica, rate] : {std::pair{0, lr}, {1, 0.}}) {
    first.assign(36, 0), second.assign(36, 0);
    adamw_step(adamw, rate, 1, 1, {{0, 36, true}},
               {arena_.row(Slot::kWeights, replica), gradient.data(), first.data(), second.data()});
  }
  values.look(1, {0, 1});
  EXPECT_EQ(table().at({1, 0, "all"}).in_step, 3 / 36.);
  EXPECT_EQ(table().at({1, 1, "all"}).in_step, 0) << "a rate of 0";
}

// The weights after each step are those of a training that ends there.
TEST(ChangedValuesTraining, SharesAreThoseOfTheWeightsByHand) {
  constexpr int kSteps = 7;
  for (const Json& method : {kDdp, kIndependent}) {
    std::map<int, std::vector<std::vector<float>>> weights;
    const Case config = case_of(scenario_of(method, 1, 1));
    weights[0].assign(4, initial_weights(config.train->model, config.seed));
    for (int step = 1; step <= kSteps; ++step) weights[step] = train(scenario_of(method, step, 0)).weights;
    for (const int every : {1, 3}) {
      const auto& [folder, whole] = CaseInFolder(scenario_of(method, kSteps, every));
      train(whole, folder, 3);
      const Table found = read_table(folder.file(kTable));
      EXPECT_EQ(found.size(), as_index(kSteps / every * 4 * 6));
      const std::int64_t all = config.train->model.parameters(), embedding = 16 * 16;
      double largest = 0;
      for (int step = every; step <= kSteps; step += every)
        for (std::size_t r = 0; r < 4; ++r) {
          const int replica = static_cast<int>(r);
          const auto &now = weights[step][r], &before = weights[step - 1][r], &row = weights[step - every][r];
          const Shares shares = found.at({step, replica, "all"});
          EXPECT_EQ(shares.in_step, share_by_hand(now, before, 0, all)) << method << step;
          EXPECT_EQ(shares.since_row, share_by_hand(now, row, 0, all)) << method << step;
          EXPECT_EQ(found.at({step, replica, "embedding"}).in_step, share_by_hand(now, before, 0, embedding));
          EXPECT_EQ(found.at({step, replica, "output"}).since_row,
                    share_by_hand(now, row, all - embedding, all));
          largest = std::max(largest, shares.in_step);
        }
      EXPECT_GT(largest, 0.1) << "else nothing is compared";
    }
  }
}

// At the first step of AdamW every update is lr: the mean of min(1, lr/u), u the unit of the weight. Norms
// begin at 1, half a unit from a boundary; embeddings of tokens that a batch lacks have no gradient.
TEST(ChangedValuesTraining, TheFirstStepsShareIsThatOfTheClosedForm) {
  for (const double lr : {1e-6, 1e-5, 1e-4, 1e-3}) {
    const auto& [folder, config] = CaseInFolder(scenario_of(kIndependent, 1, 1, lr));
    train(config, folder);
    const Table found = read_table(folder.file(kTable));
    const std::vector<float> weights = initial_weights(config.train->model, config.seed);
    struct Expected {
      double changed = 0, variance = 0, values = 0;
    };
    std::map<std::string, Expected> expected;
    for (const Parameter& parameter : parameter_layout(config.train->model)) {
      const bool is_attention = parameter.name.find("attention") != std::string::npos;
      if (parameter.is_norm || parameter.name == "embedding") continue;
      Expected& part = expected[parameter.layer < 0 ? "output" : is_attention ? "attention" : "feed_forward"];
      for (std::int64_t i = 0; i < parameter.size(); ++i) {
        const double p = std::min(1., lr / unit_of(weights[as_index(parameter.offset + i)]));
        part.changed += p, part.variance += p * (1 - p), ++part.values;
      }
    }
    EXPECT_EQ(expected.size(), 3u);
    for (int replica = 0; replica < 4; ++replica) {
      EXPECT_EQ(found.at({1, replica, "norm"}).in_step, 0);
      for (const auto& [name, part] : expected)
        EXPECT_NEAR(found.at({1, replica, name}).in_step * part.values, part.changed,
                    4 * std::sqrt(part.variance))
            << lr << name;
    }
  }
}

TEST(ChangedValuesTraining, NothingChangesWhereTheRateIsBelowAllUnits) {
  const auto& [folder, config] = CaseInFolder(scenario_of(kDdp, 3, 1, 1e-30));
  train(config, folder);
  for (const auto& [at, shares] : read_table(folder.file(kTable))) EXPECT_EQ(shares.in_step, 0);
}

// Cut anywhere: in a step, before a row with and without what the step before left, on one rank and on two.
TEST(ChangedValuesTraining, AResumedTrainingHasTheBytesOfAnUndisturbedOne) {
  const Json noloco = {{"name", "noloco"}, {"inner_steps", 5}};
  for (const Json& method : {noloco, kDdp})
    for (const int every : {1, 3}) {
      const Json scenario = changed(scenario_of(method, 12, every), {{"train", {{"checkpoint_every", 4}}}});
      const auto& [whole, config] = CaseInFolder(scenario);
      train(config, whole);
      const std::string expected = read_text(whole.file(kTable));
      int cut = 0;
      for (int calls = 1; calls <= 30; calls += 2) {
        const TemporaryFolder folder;
        try {
          train_with(config, folder, Device::kCpu, std::make_unique<Stops>(calls));
        } catch (const std::runtime_error&) {
          ++cut;
        }
        train(config, folder, 2, true);
        EXPECT_EQ(read_text(folder.file(kTable)), expected) << method << every << ", call " << calls;
      }
      EXPECT_GT(cut, 5);
      const TemporaryFolder ranks;
      train_on_ranks(2, config, ranks);
      EXPECT_EQ(read_text(ranks.file(kTable)), expected) << method << every;
    }
}

// The weights of a step are read when all have come to it, and to no later one.
TEST(ChangedValuesTraining, ThreadsMakeTheBytesOfTheLoop) {
  for (const Json& method : {kIndependent, Json{{"name", "noloco"}, {"inner_steps", 20}}}) {
    const Json scenario = scenario_of(method, 60, 2);
    const auto& [loop, config] = CaseInFolder(scenario);
    const Trained expected = train(config, loop);
    const TemporaryFolder folder;
    expect_same(train(config, folder, 3), expected);
    EXPECT_EQ(read_text(folder.file(kTable)), read_text(loop.file(kTable)));
    expect_same(train(changed(scenario, {{"train", {{"changed_values_every", 0}}}}), 3), expected,
                "whether they are read or not");
  }
}

TEST(ChangedValuesTraining, AreInTheKeyWhereTheyAreAskedFor) {
  const auto key = [](const Json& every) {
    return training_key(
        case_of(changed(small_scenario(kDdp), {{"train", {{"changed_values_every", every}}}})));
  };
  EXPECT_EQ(key(nullptr), key(0));
  EXPECT_NE(key(nullptr), key(1));
  EXPECT_NE(key(1), key(2));
  const auto& [folder, config] = CaseInFolder(small_scenario(kDdp, 2));
  train(config, folder);
  EXPECT_FALSE(std::filesystem::exists(folder.file(kTable)));
}

}  // namespace longhaul::changed_values_test
