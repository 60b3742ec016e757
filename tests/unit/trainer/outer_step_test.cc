// Outer steps through a training's own code: histories by hand, and how the replicas' disagreement shrinks.
#include <set>
#include <tuple>

#include "core/plan/operations.h"
#include "methods/noloco.h"
#include "tests/unit/trainer/codec_support.h"
#include "tests/unit/trainer/operation_support.h"
#include "tests/unit/trainer/support.h"
#include "trainer/weight_spread.h"

namespace longhaul::outer_step_test {

MethodSpec method_of(const Json& history) {
  return {history["method"]["name"], "", history["method"]};
}

// φ, the momentum and θ, which is φ where the history does not say what it is after the step.
void expect_rows(const UpdateBench& bench, const Json& history, double within = 1e-6) {
  expect_near(bench.table(Slot::kSlowWeights), history["phi"], "phi", within);
  expect_near(bench.table(Slot::kOuterMomentum), history["momentum"], "momentum", within);
  if (history.contains("after"))
    expect_near(bench.table(Slot::kWeights), history["after"], "theta", within);
  else
    EXPECT_EQ(bench.table(Slot::kWeights), bench.table(Slot::kSlowWeights));
}

TEST(OuterStepHistory, IsTheOneWorkedOutByHand) {
  for (const char* file : {"noloco_pairs.json", "noloco_group_of_three.json", "noloco_three_replicas.json",
                           "diloco_nesterov.json", "diloco_heavy_ball.json", "delayed_nesterov.json"}) {
    SCOPED_TRACE(file);
    const Json history = golden(file), start = history["start"];
    UpdateBench bench(method_of(history), static_cast<int>(start["phi"].size()), 1);
    bench.set(Slot::kSlowWeights, start["phi"]);
    bench.set(Slot::kOuterMomentum, start["momentum"]);
    int number = 0;
    for (const Json& step : history[history.contains("steps") ? "steps" : "rounds"]) {
      bench.set(Slot::kWeights, step["theta"]);
      bench.run(rule_for({"delta", "phi"}), ++number, step.value("groups", Json::array()));
      expect_rows(bench, step);
    }
  }
}

OperationRule overlapped_rule(int overlap_steps) {
  OperationRule rule = rule_for({"delta"});
  rule.every = 4;
  rule.overlap_steps = overlap_steps;
  return rule;
}

// What is posted with some weights is applied to others of its round, or in the next one.
TEST(OverlappedHistory, IsTheOneWorkedOutByHand) {
  for (const char* file : {"streaming_diloco.json", "eager_diloco.json", "co2.json"}) {
    SCOPED_TRACE(file);
    const Json history = golden(file);
    UpdateBench bench(method_of(history), 2, 1);
    const bool is_late = !history["rounds"][0].contains("posted");
    const OperationRule rule = overlapped_rule(is_late ? 4 : 2);
    int step = 0;
    for (const Json& round : history["rounds"]) {
      step += 4;
      bench.set(Slot::kWeights, round[is_late ? "theta" : "posted"]);
      bench.runner.post({&rule, step, step + rule.overlap_steps, {}, 0});
      bench.set(Slot::kWeights, round["theta"]);
      const int posted = is_late ? step - 4 : step;
      if (posted == 0)
        bench.runner.take({"first", 4, 0, 4, 4}, {0, 1});
      else
        bench.runner.apply({&rule, posted, posted + rule.overlap_steps, {}, 0});
      expect_rows(bench, round, 0);
    }
  }
}

// Over K rounds it moves φ by what Nesterov does in one with the mean of their Δ, as its paper says.
TEST(DelayedNesterov, MovesInKRoundsAsNesterovDoesInOne) {
  for (const int every : {1, 3, 5}) {
    const Json options = {{"outer_lr", 0.7}, {"outer_momentum", 0.9}, {"momentum_every", every}};
    UpdateBench bench({"delayed-nesterov", "", options}, 2, 1);
    double phi = 0, momentum = 0, mean = 0;
    for (int step = 1; step <= 4 * every; ++step) {
      const auto moved = static_cast<float>(bench.table(Slot::kSlowWeights)[0] + std::sin(step));
      bench.set(Slot::kWeights, {moved + 0.25f, moved - 0.25f});
      bench.run(rule_for({"delta"}), step);
      mean += std::sin(step) / every;
      if (step % every != 0) continue;
      momentum = 0.9 * momentum + mean;
      phi += 0.7 * (mean + 0.9 * momentum);
      mean = 0;
      EXPECT_NEAR(bench.table(Slot::kSlowWeights)[0], phi, 1e-5) << every << ", step " << step;
    }
  }
}

// The gap is one number for the whole row: of 2500 columns, three blocks, with the arithmetic in double.
TEST(Co2, TheGapIsOfTheWholeRow) {
  constexpr std::size_t kColumns = 2500;
  UpdateBench bench(method_of(golden("co2.json")), 3, kColumns);
  const Row momentum = normal_row(kColumns, 1), weights = normal_row(3 * kColumns, 2);
  std::vector<double> delta(kColumns);
  double moved = 0, gap = 0;
  for (std::size_t i = 0; i < kColumns; ++i) {
    for (const std::size_t r : {0, 1, 2}) delta[i] += weights[r * kColumns + i] / 3.;
    moved += std::pow(delta[i], 2);
    gap += std::pow(0.5 * momentum[i], 2);
  }
  bench.set(Slot::kWeights, weights);
  for (const int r : {0, 1, 2}) bench.set(Slot::kOuterMomentum, r, momentum);
  const OperationRule rule = overlapped_rule(4);
  bench.runner.post({&rule, 4, 8, {}, 0});
  bench.runner.apply({&rule, 4, 8, {}, 0});
  const double penalty = 1 + std::sqrt(gap) / std::sqrt(moved);
  EXPECT_GT(penalty, 1.5) << "or there is nothing to see";
  for (std::size_t i = 0; i < kColumns; ++i) {
    const double expected = std::min(1.5, std::max(-1.5, 0.5 * momentum[i] + delta[i] / penalty));
    for (int r = 0; r < 3; ++r) {
      EXPECT_NEAR(bench.arena.row(Slot::kOuterMomentum, r)[i], expected, 1e-6);
      EXPECT_NEAR(bench.arena.row(Slot::kWeights, r)[i], 0.5 * expected, 1e-6);
    }
  }
}

OperationRule rule_with(const Codec& codec) {
  OperationRule rule = rule_for({"delta"});
  rule.payload[0].codec = codec;
  return rule;
}

// Of two columns the larger one travels, η 0.5, β 0.5.
TEST(Sparseloco, IsTheOneWorkedOutByHand) {
  UpdateBench bench({"sparseloco", "", {{"outer_lr", 0.5}, {"mean_of", "all"}}}, 2, 2, {Slot::kError});
  const OperationRule rule = rule_with({TopK{2, 1, Wire::kFp32}, Feedback::kClassic, 0.5});
  bench.set(Slot::kWeights, {4, 2, 1, -2});  // sends (4, 0) and keeps (0, 2); (0, -2) and (1, 0)
  bench.run(rule);
  EXPECT_EQ(bench.table(Slot::kSlowWeights), (Row{1, -0.5, 1, -0.5})) << "the mean is (2, -1)";
  EXPECT_EQ(bench.table(Slot::kWeights), bench.table(Slot::kSlowWeights));
  EXPECT_EQ(bench.table(Slot::kError), (Row{0, 2, 1, 0}));
  // Δ (0.5, 0.5), and half of (0, 2): (0.5, 1.5), sends (0, 1.5); (3, 0), and half of (1, 0), sends all
  bench.set(Slot::kWeights, {1.5, 0, 4, -0.5});
  bench.run(rule);
  EXPECT_EQ(bench.table(Slot::kSlowWeights), (Row{1.875, -0.125, 1.875, -0.125})) << "(1.75, 0.75)";
  EXPECT_EQ(bench.table(Slot::kError), (Row{0.5, 0, 0, 0}));
}

// φ of SparseLoCo with η 1 after one round from φ = 0, which is the mean that it takes.
Row mean_taken(const std::string& mean_of, const Codec& codec, const std::vector<Row>& deltas) {
  UpdateBench bench({"sparseloco", "", {{"outer_lr", 1}, {"mean_of", mean_of}}},
                    static_cast<int>(deltas.size()), static_cast<std::int64_t>(deltas[0].size()));
  for (std::size_t r = 0; r < deltas.size(); ++r) bench.set(Slot::kWeights, static_cast<int>(r), deltas[r]);
  bench.run(rule_with(codec));
  return bench.row(Slot::kSlowWeights, bench.arena.replicas() - 1);
}

TEST(MeanOf, SendersOrAllIsTheOneWorkedOutByHand) {
  const std::vector<std::tuple<TopK, std::vector<Row>, Row, Row>> cases = {
      // Column 0 travels from replicas 0, 1 and 3; 1 from 2; 2 from 0, 2 and 3; 3 from 1.
      {{5, 2, Wire::kFp32},
       {{8, 1, 4, 0, .5f}, {4, 1, 0, -6, .5f}, {-1, 2, 6, 0, .5f}, {-6, 0, 2, 1, .5f}},
       {2, 2, 4, -6, 0},
       {1.5f, 0.5f, 3, -1.5f, 0}},
      {{4, 1, Wire::kFp32},
       {{8, 1, 0, 0}, {0, -4, 1, 0}, {0, 0, 2, 1}, {1, 2, 3, 4}},
       {8, -4, 2, 4},
       {2, -1, 0.5f, 1}},
      // A zero that is kept was sent.
      {{2, 2, Wire::kFp32}, {{4, 0}, {4, 0}, {4, 0}, {4, 2}}, {4, 0.5f}, {4, 0.5f}}};
  for (const auto& [codec, deltas, senders, all] : cases) {
    EXPECT_EQ(mean_taken("senders", {codec}, deltas), senders);
    EXPECT_EQ(mean_taken("all", {codec}, deltas), all);
  }
}

// `all` is the sum of what each message reads as, in the order of the replicas, over their number.
TEST(MeanOf, AllHasTheBitsOfThePlainMean) {
  std::vector<Row> deltas;
  const Codec codec{TopK{256, 16, Quantizer::kTwoBit}};
  Row all(1000), senders(1000), counts(1000);
  for (std::uint32_t r = 0; r < 5; ++r) {
    deltas.push_back(uneven_row(1000, r));
    const Row next = sent_of(codec, deltas.back());
    for (std::size_t i = 0; i < 1000; ++i) {
      all[i] += next[i];
      counts[i] += next[i] != 0;  // all that is kept is far from zero
    }
  }
  for (std::size_t i = 0; i < 1000; ++i) {
    senders[i] = counts[i] > 0 ? all[i] / counts[i] : 0;
    all[i] /= 5;
  }
  EXPECT_EQ(mean_taken("all", codec, deltas), all);
  EXPECT_EQ(mean_taken("senders", codec, deltas), senders);
  EXPECT_NE(senders, all);
}

// Two columns, of whose two cosine coefficients (a + b)/√2 and (a − b)/√2 the larger one travels: 6/√2 of the
// first from replica 0, 3/√2 of the second from 1. Back they are (6 + 3)/2 and (6 − 3)/2.
TEST(MeanOf, CountsTheSendersOfACoefficient) {
  const Codec codec{DctTopK{64, 1, Wire::kFp32, {{1, 2}}}};
  expect_near(mean_taken("senders", codec, {{4, 2}, {1, -2}}), {4.5, 1.5}, "of the senders");
  expect_near(mean_taken("all", codec, {{4, 2}, {1, -2}}), {2.25, 0.75}, "of all");
}

TEST(Ef21, SendsChangesThatAddUp) {
  UpdateBench bench({"diloco", "", {{"outer_lr", 1}, {"outer_momentum", 0}, {"nesterov", true}}}, 2, 2,
                    {Slot::kError, Slot::kSentMean});
  const OperationRule rule = rule_with({TopK{2, 1, Wire::kFp32}, Feedback::kEf21, 1});
  bench.set(Slot::kWeights, {4, 2, 1, -2});  // g = (4, 0) and (0, -2)
  bench.run(rule);
  EXPECT_EQ(bench.table(Slot::kSlowWeights), (Row{2, -1, 2, -1})) << "the mean of both g";
  // Δ (4, 2), less g: (0, 2), g = (4, 2); Δ (1, -2), less g: (1, 0), g = (1, -2)
  bench.set(Slot::kWeights, {6, 1, 3, -3});
  bench.run(rule);
  EXPECT_EQ(bench.table(Slot::kSlowWeights), (Row{4.5, -1, 4.5, -1})) << "the mean of both g is (2.5, 0)";
  EXPECT_EQ(bench.table(Slot::kError), (Row{4, 2, 1, -2}));
}

TEST(WeightAverages, AreThoseWorkedOutByHand) {
  const Json golden_file = golden("weight_averages.json");
  for (const Json& history : golden_file["histories"]) {
    UpdateBench bench({history["method"], "", Json::object()}, 4, 1);
    bench.set(Slot::kWeights, golden_file["weights"]);
    for (std::size_t round = 0; round < history["groups"].size(); ++round) {
      bench.run(rule_for({"weights"}), static_cast<int>(round) + 1, history["groups"][round]);
      expect_near(bench.table(Slot::kWeights), history["weights"][round], history["method"]);
    }
  }
}

// Of the column that travelled the weights become 2 each, or 2 + (2 - 1) and 7 + (2 - 3).
TEST(Sparta, IsTheOneWorkedOutByHand) {
  for (const bool adds : {false, true}) {
    UpdateBench bench({"sparta", "", {{"arrival", adds ? "add" : "replace"}}}, 2, 2);
    OperationRule rule = overlapped_rule(2);
    rule.payload = {{"weights", {RandomMask{0.5, Wire::kFp32}}}};
    const Operation operation{&rule, 4, 6, {}, 0, {}, 3};
    bench.set(Slot::kWeights, {1, 1, 3, 3});
    bench.runner.post(operation);
    bench.set(Slot::kWeights, {2, 2, 7, 7});
    bench.runner.apply(operation);
    const Row found = bench.table(Slot::kWeights);
    EXPECT_EQ((std::multiset<Row>{{found[0], found[2]}, {found[1], found[3]}}),
              (std::multiset<Row>{{2, 7}, adds ? Row{3, 6} : Row{2, 2}}));
  }
}

TEST(Noloco, EqualReplicasStayEqualWhateverTheWireFormatIs) {
  // 0.1 is on no grid: were the γ term taken from the unrounded φ, it would pull φ towards the rounded one.
  UpdateBench bench({"noloco", "", {{"alpha", 0.5}, {"beta", 0.7}, {"gamma", 0.7}}}, 2, 1);
  bench.set(Slot::kWeights, {0.1f, 0.1f});
  bench.set(Slot::kSlowWeights, {0.1f, 0.1f});
  bench.run(rule_for({"delta", "phi"}, Wire::kBf16));
  EXPECT_EQ(bench.table(Slot::kSlowWeights), (Row{0.1f, 0.1f}));
}

// The variance over replicas, mean over columns.
double disagreement(const UpdateBench& bench) {
  Row mean(as_index(bench.arena.parameters()));
  return std::pow(weight_spread(one_rank(), bench.arena, Slot::kSlowWeights, bench.arena.held().replicas(),
                                *bench.backend, mean.data()),
                  2);
}

// Second moments of the replicas' deviations d of φ and v of δ from their means: E|d|², E⟨d, v⟩, E|v|².
struct Moments {
  double dd, dv, vv;
};

// One outer step without a gradient, v ← α v − γ P d, d ← d + v, where P takes the deviation within a random
// group: P² = P and E P = k = (1 − 1/n)·N/(N − 1) on deviations.
Moments after_step(const Moments& m, double alpha, double gamma, double k) {
  const double vv = alpha * alpha * m.vv - 2 * alpha * gamma * k * m.dv + gamma * gamma * k * m.dd;
  const double dv = alpha * m.dv - gamma * k * m.dd;  // of the new v with the old d
  return {m.dd + 2 * dv + vv, dv + vv, vv};
}

// By how much the moments grow a step in the long run.
double growth(double alpha, double gamma, double k) {
  Moments m{1, 0, 0};
  double size = 1;
  for (int step = 0; step < 5000; ++step) {
    m = after_step({m.dd / size, m.dv / size, m.vv / size}, alpha, gamma, k);
    size = std::abs(m.dd) + std::abs(m.dv) + std::abs(m.vv);
  }
  return size;
}

TEST(Noloco, TheMomentsStopShrinkingAtTheBoundThatTheWarningStates) {
  for (const auto& [alpha, n, replicas] :
       {std::tuple{0.5, 2, 8}, {0.5, 2, 1000}, {0.9, 2, 16}, {0.3, 4, 8}, {0., 2, 4}}) {
    const double k = (1 - 1. / n) * replicas / (replicas - 1), bound = noloco_gamma_bound(alpha, n, replicas);
    EXPECT_LT(growth(alpha, 0.99 * bound, k), 0.9995) << alpha;
    EXPECT_GT(growth(alpha, 1.01 * bound, k), 1.0005) << alpha;
  }
  // Derived for α = 0.5, n = 2 and many replicas.
  EXPECT_NEAR(growth(0.5, 0.7, 0.5), 0.700, 5e-4);
  EXPECT_NEAR(growth(0.5, 0.3, 0.5), 0.625, 5e-4);
}

// The mean over 3000 draws of groups, on either side of the bound.
TEST(Noloco, TheOuterStepHasTheseMoments) {
  constexpr int kSteps = 4, kSeeds = 3000;
  const OperationRule rule = rule_for({"delta", "phi"});
  // Of five replicas one sits out. k: of the disagreement (N − 1 dimensions) a pair takes away one.
  for (const auto& [kReplicas, k] : {std::pair{8, 4. / 7}, {5, 2. / 4}})
    for (double times : {0., 0.9, 1.2}) {
      const double gamma = times > 0 ? times * noloco_gamma_bound(0.5, 2, kReplicas) : 0.7;
      std::vector<double> found(kSteps + 1);
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        UpdateBench bench({"noloco", "", {{"alpha", 0.5}, {"beta", 0.7}, {"gamma", gamma}}}, kReplicas, 16);
        bench.set(Slot::kWeights, normal_row(kReplicas * 16, seed));
        bench.update->start(bench.all);
        found[0] += disagreement(bench);
        for (int step = 1; step <= kSteps; ++step) {
          bench.run(rule, step, random_groups(seed, kReplicas, 2, step));
          found[as_index(step)] += disagreement(bench);
        }
      }
      Moments expected{found[0], 0, 0};
      for (int step = 1; step <= kSteps; ++step) {
        expected = after_step(expected, 0.5, gamma, k);
        EXPECT_NEAR(found[as_index(step)] / expected.dd, 1, 0.03) << "step " << step << ", gamma " << gamma;
      }
    }
}

TEST(UpdateRegistry, AMethodOrATensorThatItDoesNotKnowEndsTheTraining) {
  EXPECT_THROW(make_update({"half-a-method", "", Json::object()}), std::logic_error);
  UpdateBench bench({"ddp", "ddp", Json::object()}, 2, 4);
  EXPECT_THROW(bench.run(rule_for({"half-a-tensor"})), std::logic_error);
}

}  // namespace longhaul::outer_step_test
