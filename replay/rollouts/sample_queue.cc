#include "replay/rollouts/sample_queue.h"

#include "core/base/index.h"

namespace longhaul {

std::optional<RolloutSample> SampleQueue::begin(int version) {
  const std::int64_t step = begun_ / spec_.batch + 1;
  if (step > steps_ || spec_.version_before(static_cast<int>(step)) - version > spec_.staleness)
    return std::nullopt;
  ++begun_;
  return RolloutSample{begun_, spec_.length.draw(seed_, begun_), static_cast<int>(step), version};
}

bool SampleQueue::finish(const RolloutSample& sample) {
  const std::size_t step = as_index(sample.step);
  if (finished_.size() <= step) finished_.resize(step + 1);
  return ++finished_[step] == spec_.batch;
}

bool SampleQueue::is_whole(int step) const {
  return as_index(step) < finished_.size() && finished_[as_index(step)] == spec_.batch;
}

}  // namespace longhaul
