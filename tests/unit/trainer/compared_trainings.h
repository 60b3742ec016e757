// What tests that hold two trainings against each other share: the losses of a training, one on a card, one
// on two ranks, and a back-end that ends one in the middle.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "tests/unit/trainer/support.h"
#include "tests/unit/trainer/thread_ranks.h"
#include "trainer/model/gemm.h"

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

// metrics.csv of a training on two ranks, each with half of the replicas; or path and words of what it
// refuses.
inline std::string metrics_of_two_ranks(const Json& scenario) {
  const TemporaryFolder folder;
  const Case config = only_case(scenario, folder);
  std::string refused;
  ThreadRanks::run(2, [&](Ranks& ranks) {
    use_one_thread();
    ProgressReporter silent("test", -1, true);
    TrainingFiles files(folder.file("out"), ranks.is_first());
    try {
      Training training(config, Device::kCpu, make_loop_backend(), files, silent, ranks);
      files.finish(training.run());
    } catch (const InputError& error) {
      if (ranks.is_first()) refused = error.parts().path + " " + error.parts().found;
    }
  });
  return refused.empty() ? read_text(folder.file("out/metrics.csv")) : refused;
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

}  // namespace longhaul
