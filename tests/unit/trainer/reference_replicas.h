// Trainings in which some replicas do not take some steps, and a reference with the methods' equations.
#pragma once

#include <cmath>

#include "tests/unit/trainer/compared_trainings.h"
#include "tests/unit/trainer/gpu_here.h"
#include "trainer/data/dataset.h"
#include "trainer/optimizer/adamw.h"

namespace longhaul {

inline constexpr int kSteps = 12, kReplicas = 3;

inline Json scenario_of(const Json& method) {
  const Json data = {{"synthetic", {{"tokens", 4000}}}}, optimizer = {{"weight_decay", 0}},
             train = {{"data", data}, {"checkpoint_every", 1}, {"optimizer", optimizer}};
  return changed(small_scenario(method, kSteps, "fp32"), {{"replicas", kReplicas}, {"train", train}});
}

inline Trained follow(const Case& config, const Schedule& schedule, const TemporaryFolder& folder,
                      std::unique_ptr<Backend> backend = make_loop_backend(), bool resume = false,
                      Device device = Device::kCpu) {
  return train_with(config, folder, device, std::move(backend), resume, scheduled(schedule));
}

using Row = std::vector<float>;

struct Replica {
  Row weights, gradient, first, second, phi, momentum;
  int updates = 0;
};

class Reference {
 public:
  explicit Reference(const Case& config)
      : case_(trained_case(config)),
        train_(*case_.train),
        data_(load_dataset(case_)),
        decoder_(train_.model, Device::kCpu) {
    const Row weights = initial_weights(train_.model, case_.seed), zero(weights.size());
    replicas.assign(kReplicas, {weights, zero, zero, zero, weights, zero});
  }

  void gradient(int replica, int step) {
    Replica& of = at(replica);
    decoder_.loss_and_gradient(of.weights.data(), of.gradient.data(),
                               training_batch(data_.training, train_, case_.seed, replica, step));
  }

  void adam(int replica, int step) {
    Replica& of = at(replica);
    const auto columns = static_cast<std::int64_t>(of.weights.size());
    const double scale = clip_factor(row_norm(of.gradient.data(), columns), train_.optimizer.clip),
                 lr = learning_rate(train_.optimizer, step, kSteps), b1 = train_.optimizer.beta1,
                 b2 = train_.optimizer.beta2;
    ++of.updates;
    for (std::size_t i = 0; i < of.weights.size(); ++i) {
      const double g = scale * double{of.gradient[i]}, m = b1 * double{of.first[i]} + (1 - b1) * g,
                   v = b2 * double{of.second[i]} + (1 - b2) * g * g;
      of.first[i] = static_cast<float>(m), of.second[i] = static_cast<float>(v);
      const double corrected = m / (1 - std::pow(b1, of.updates)),
                   root = std::sqrt(v / (1 - std::pow(b2, of.updates)));
      of.weights[i] = static_cast<float>(double{of.weights[i]} - lr * corrected / (root + 1e-8));
    }
  }

  void step(const std::vector<int>& computing, int step) {
    for (const int replica : computing) gradient(replica, step), adam(replica, step);
  }

  Row delta(int replica) const {
    const Replica& of = replicas[as_index(replica)];
    Row row = of.weights;
    for (std::size_t i = 0; i < row.size(); ++i) row[i] -= of.phi[i];
    return row;
  }

  void outer(int replica, const Row& delta, float lr, float mu) {
    Replica& of = at(replica);
    for (std::size_t i = 0; i < delta.size(); ++i) {
      of.momentum[i] = mu * of.momentum[i] + delta[i];
      of.phi[i] += lr * (delta[i] + mu * of.momentum[i]);
    }
    of.weights = of.phi;
  }

  Row mean_delta(const std::vector<int>& moved) const {
    std::vector<Row> deltas;
    for (const int replica : moved) deltas.push_back(delta(replica));
    return mean(deltas);
  }

  // The same of each that takes it, with the mean of what others have moved by.
  void outer_of(const std::vector<int>& moved, const std::vector<int>& taking, float lr, float mu) {
    const Row mean = mean_delta(moved);
    for (const int replica : taking) outer(replica, mean, lr, mu);
  }

  // AdamW of each that takes it, with the mean of the gradients that others have computed.
  void adam_of(const std::vector<int>& computing, const std::vector<int>& taking, int step) {
    if (taking.empty()) return;
    std::vector<Row> gradients;
    for (const int replica : computing) {
      gradient(replica, step);
      gradients.push_back(at(replica).gradient);
    }
    for (const int replica : taking) {
      at(replica).gradient = mean(gradients);
      adam(replica, step);
    }
  }

  // δ_i ← α δ_i + β Δ̄ − γ (φ_i − φ̄); φ_i ← φ_i + δ_i; θ_i ← φ_i
  void noloco(const std::vector<int>& group, float alpha, float beta, float gamma) {
    std::vector<Row> phis;
    for (const int replica : group) phis.push_back(at(replica).phi);
    const Row moved_by = mean_delta(group), mean_phi = mean(phis);
    for (const int replica : group) {
      Replica& of = at(replica);
      for (std::size_t i = 0; i < mean_phi.size(); ++i) {
        of.momentum[i] = alpha * of.momentum[i] + beta * moved_by[i] - gamma * (of.phi[i] - mean_phi[i]);
        of.phi[i] += of.momentum[i];
      }
      of.weights = of.phi;
    }
  }

  static Row mean(const std::vector<Row>& rows) {
    Row mean(rows[0].size());
    for (const Row& row : rows)
      for (std::size_t i = 0; i < row.size(); ++i) mean[i] += row[i] / static_cast<float>(rows.size());
    return mean;
  }

  std::vector<Replica> replicas;

 private:
  Replica& at(int replica) { return replicas[as_index(replica)]; }

  const Case case_;
  const TrainSpec& train_;
  Dataset data_;
  Decoder decoder_;
};

inline void expect_weights(const Trained& found, const Reference& reference) {
  for (std::size_t replica = 0; replica < kReplicas; ++replica)
    for (std::size_t i = 0; i < found.weights[replica].size(); ++i)
      ASSERT_NEAR(found.weights[replica][i], reference.replicas[replica].weights[i], 2e-5)
          << "replica " << replica << ", column " << i;
}

// A card computes the same but for the order of its sums.
inline void expect_same_on_card(const Case& config, const Schedule& schedule, const Trained& expected) {
  const TemporaryFolder folder;
  const Trained found =
      follow(config, schedule, folder, make_stacked_backend(make_loop_backend()), false, Device::kCuda);
  EXPECT_EQ(found.exchanges, expected.exchanges);
  expect_losses(found, expected, 1e-3, "on a card");
  for (std::size_t replica = 0; replica < expected.weights.size(); ++replica)
    for (std::size_t i = 0; i < expected.weights[replica].size(); ++i)
      ASSERT_NEAR(found.weights[replica][i], expected.weights[replica][i], 2e-4) << replica << " " << i;
}

// The same whatever works on it, on however many ranks, and when it is stopped after each of its checkpoints.
inline void expect_same_bytes(const Case& config, const Schedule& schedule, const Trained& expected) {
  if (has_gpu()) expect_same_on_card(config, schedule, expected);
#ifndef LONGHAUL_EMULATED_GPU
  const TemporaryFolder threads;
  expect_same(follow(config, schedule, threads, make_thread_backend(2, use_one_thread)), expected, "threads");
  const auto on_ranks = [&](const TemporaryFolder& folder, int calls, bool resume) {
    return train_on_ranks(config.replicas % 3 == 0 ? 3 : 2, config, folder, calls, resume,
                          scheduled(schedule));
  };
  expect_same(on_ranks(TemporaryFolder(), 1000, false), expected, "on ranks");
  for (const int calls : {4, 9}) {
    const TemporaryFolder folder;
    EXPECT_THROW(on_ranks(folder, calls, false), std::runtime_error);
    expect_same(on_ranks(folder, 1000, true), expected, "on ranks, stopped after " + std::to_string(calls));
  }
  for (int calls = 1; calls < 60; calls += 6) {
    const TemporaryFolder folder;
    try {
      follow(config, schedule, folder, std::make_unique<Stops>(calls));
      EXPECT_GT(calls, kSteps) << "it was hardly stopped";
      return;
    } catch (const std::runtime_error&) {
    }
    expect_same(follow(config, schedule, folder, make_loop_backend(), true), expected,
                "stopped after " + std::to_string(calls));
  }
#endif
}

// The reference of a training on a schedule.
struct TrainedReference : CaseInFolder, Reference {
  explicit TrainedReference(const Json& scenario) : CaseInFolder(scenario), Reference(config) {}

  // Trains: the weights are those that the reference has now, and the bytes the same however it is done.
  Trained expect_training() const {
    const Trained found = follow(config, schedule, folder);
    expect_weights(found, *this);
    expect_same_bytes(config, schedule, found);
    return found;
  }

  Schedule schedule;
};

}  // namespace longhaul
