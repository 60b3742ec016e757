// What tests that hold two trainings against each other share: the losses of a training, one on a card, a
// back-end that ends one in the middle, and one on ranks.
#pragma once

#include <memory>
#include <stdexcept>
#include <utility>

#include "tests/unit/trainer/support.h"
#include "tests/unit/trainer/thread_ranks.h"

namespace longhaul {

// The losses in the text of a metrics.csv, in the order of its lines.
inline std::vector<double> losses_in(const std::string& metrics) {
  std::vector<double> losses;
  for (const auto& row : table_of(metrics).rows) losses.push_back(std::stod(row[3]));
  return losses;
}

// Each loss within `relative` of the other training's.
inline void expect_losses(const Trained& found, const Trained& expected, double relative,
                          const std::string& what) {
  const std::vector<double> a = losses_in(found.metrics), b = losses_in(expected.metrics);
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], relative * b[i]) << what << ", line " << i;
}

inline Trained train_on(Device device, std::unique_ptr<Backend> backend, const Json& scenario) {
  const TemporaryFolder folder;
  return train_with(only_case(scenario, folder), folder, device, std::move(backend));
}
inline Trained stacked_on_gpu(const Json& scenario) {
  return train_on(Device::kCuda, make_stacked_backend(make_loop_backend()), scenario);
}

// `host`, which ends a training after so many calls: that may be in the middle of a step.
class Stops : public Backend {
 public:
  explicit Stops(int calls, std::unique_ptr<Backend> host = make_loop_backend())
      : calls_(calls), host_(std::move(host)) {}
  void for_each_round(int count, int rounds, const RoundTask& task, const AfterRound& after) override {
    if (--calls_ < 0) throw std::runtime_error("stopped");
    host_->for_each_round(count, rounds, task, after);
  }
  int threads() const override { return host_->threads(); }
  std::string name() const override { return host_->name(); }
  bool stacks() const override { return host_->stacks(); }

 private:
  int calls_;
  std::unique_ptr<Backend> host_;
};

// On `size` ranks, each with a back-end that ends it after so many calls.
inline Trained train_on_ranks(int size, const Case& config, const TemporaryFolder& folder, int calls = 1000,
                              bool resume = false, const Training::MakeJournal& journal = {}) {
  Trained trained;
  trained.weights.resize(as_index(config.replicas));
  ThreadRanks::run(size, [&](Ranks& ranks) {
    train_rank(trained, config, folder, Device::kCpu, std::make_unique<Stops>(calls), resume, journal, ranks);
  });
  trained.metrics = read_text(folder.file("out/metrics.csv"));
  trained.exchanges = read_text(folder.file("out/exchanges.jsonl"));
  return trained;
}

// metrics.csv of a training on two ranks, each with half of the replicas.
inline std::string metrics_of_two_ranks(const Json& scenario) {
  const TemporaryFolder folder;
  return train_on_ranks(2, only_case(scenario, folder), folder).metrics;
}

}  // namespace longhaul
