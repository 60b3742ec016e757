#include "replay/rollouts/rollout_group.h"

#include <fmt/core.h>

#include <cmath>
#include <optional>
#include <utility>

namespace longhaul {

RolloutGroup::RolloutGroup(Clock& clock, const RolloutSpec& spec, SampleQueue& queue, double speed,
                           Watcher watcher)
    : clock_(clock),
      spec_(spec),
      queue_(queue),
      speed_(speed),
      watcher_(std::move(watcher)),
      counted_ns_(clock.now_ns()) {}

bool RolloutGroup::may_begin() const {
  return generates() && !drains() && under_way() < spec_.concurrent;
}

bool RolloutGroup::begin() {
  const std::optional<RolloutSample> sample = queue_.begin(version_);
  if (!sample) return false;
  count();
  const double seconds = spec_.start_s + static_cast<double>(sample->tokens) / (spec_.tokens_per_s * speed_);
  Running& running = running_[sample->number];
  running = {*sample, std::llround(seconds * 1e9), 0, clock_.now_ns()};
  run(running);
  return true;
}

void RolloutGroup::run(Running& running) {
  running.begun_ns = clock_.now_ns();
  clock_.after_ns(running.left_ns,
                  generation_.during([this, number = running.sample.number] { finish(number); }));
}

void RolloutGroup::finish(std::int64_t number) {
  count();
  const auto found = running_.find(number);
  const Running running = found->second;
  running_.erase(found);
  ++work_.samples;
  work_.tokens += running.sample.tokens;
  watcher_.finished(running.sample, seconds_of(clock_.now_ns() - running.first_ns));
  swap_if_it_can();
  watcher_.is_free();
}

void RolloutGroup::halt() {
  if (!generates()) return;
  count();
  generation_.end();
  for (auto& [number, running] : running_) running.left_ns -= clock_.now_ns() - running.begun_ns;
}

void RolloutGroup::go_on() {
  count();
  for (auto& [number, running] : running_) run(running);
}

void RolloutGroup::expect(int version) {
  if (spec_.weights.swap == WeightSwap::kPause) halt();
  expected_ = version;
}

void RolloutGroup::take_up(int version) {
  ready_ = version;
  swap_if_it_can();
}

void RolloutGroup::swap_if_it_can() {
  if (is_swapping_ || ready_ == version_) return;
  if (spec_.weights.swap == WeightSwap::kDrain && !running_.empty()) return;
  halt();
  is_swapping_ = true;
  clock_.after(spec_.weights.swap_s, [this, version = ready_] { end_swap(version); });
}

void RolloutGroup::end_swap(int version) {
  count();
  version_ = version;
  is_swapping_ = false;
  if (generates()) go_on();
  watcher_.swapped(version);
  swap_if_it_can();
  watcher_.is_free();
}

void RolloutGroup::count() {
  work_ = work();
  counted_ns_ = clock_.now_ns();
}

RolloutGroup::Work RolloutGroup::work() const {
  Work work = work_;
  if (!generates() || running_.empty()) return work;
  const double seconds = seconds_of(clock_.now_ns() - counted_ns_);
  work.busy_s += seconds;
  work.sample_s += seconds * static_cast<double>(running_.size());
  return work;
}

std::string RolloutGroup::state() const {
  return fmt::format("has version {} and generates {} samples{}", version_, running_.size(),
                     is_swapping_ ? ", and swaps"
                     : is_held()  ? ", and is held"
                                  : "");
}

}  // namespace longhaul
