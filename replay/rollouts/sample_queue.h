// Which samples groups may begin, and which batches are whole: without a clock.
//
// Samples are numbered from 1 in the order in which they begin; sample n is for step ⌈n / batch⌉. A group
// whose weights are of version v may begin it where V − v ≤ staleness, with V the version that the step
// trains: so no sample is staler than that when its step takes it (AReaL, arXiv 2505.24298, equation 3).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/scenario/rollouts.h"

namespace longhaul {

struct RolloutSample {
  std::int64_t number = 0, tokens = 0;
  int step = 0;
  int version = 0;  // of the group's weights when it begins
};

class SampleQueue {
 public:
  // `spec` must outlive it.
  SampleQueue(const RolloutSpec& spec, int steps, std::uint64_t seed)
      : spec_(spec), steps_(steps), seed_(seed) {}

  // The next one, begun by a group with these weights; none that it may begin.
  std::optional<RolloutSample> begin(int version);
  // Whether the batch of its step is whole with it.
  bool finish(const RolloutSample& sample);
  // Whether the batch of that step is whole; steps count from 1.
  bool is_whole(int step) const;

  int staleness_of(const RolloutSample& sample) const {
    return static_cast<int>(spec_.version_before(sample.step) - sample.version);
  }

 private:
  const RolloutSpec& spec_;
  const int steps_;
  const std::uint64_t seed_;
  std::int64_t begun_ = 0;
  std::vector<std::int64_t> finished_;  // by step, from 1
};

}  // namespace longhaul
