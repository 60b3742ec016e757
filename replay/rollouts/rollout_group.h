// A group of rollouts: an engine that generates several samples at a time, and takes up new weights.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "core/scenario/rollouts.h"
#include "replay/network/clock.h"
#include "replay/rollouts/sample_queue.h"
#include "replay/work/life.h"

namespace longhaul {

class RolloutGroup {
 public:
  struct Watcher {
    std::function<void(const RolloutSample&, double took_s)> finished;
    std::function<void(int version)> swapped;  // it generates with these weights from now on
    std::function<void()> is_free;             // it may begin samples again
  };
  // What it has done until now. It is busy while it generates at least one sample.
  struct Work {
    double busy_s = 0, sample_s = 0;  // sample_s: of all samples together
    std::int64_t samples = 0, tokens = 0;
  };

  // All must outlive it. `speed`: a factor of tokens_per_s.
  RolloutGroup(Clock& clock, const RolloutSpec& spec, SampleQueue& queue, double speed, Watcher watcher);
  RolloutGroup(const RolloutGroup&) = delete;  // what it starts calls back
  RolloutGroup& operator=(const RolloutGroup&) = delete;

  // It has a slot for one sample more, and generates.
  bool may_begin() const;
  // Begins one, where may_begin(); false where the bound on staleness lets it have none.
  bool begin();
  int under_way() const { return static_cast<int>(running_.size()); }
  // That version is being sent to it.
  void expect(int version);
  // Version `version` has come, later than any before, and is unpacked.
  void take_up(int version);

  int version() const { return version_; }
  Work work() const;
  std::string state() const;  // in words

 private:
  struct Running {
    RolloutSample sample;
    std::int64_t left_ns = 0, begun_ns = 0;  // of generation, since it began or went on
    std::int64_t first_ns = 0;               // when it began
  };

  // It generates nothing while the version is on its way.
  bool is_held() const { return expected_ > version_ && spec_.weights.swap == WeightSwap::kPause; }
  bool generates() const { return !is_held() && !is_swapping_; }
  bool drains() const { return ready_ > version_ && spec_.weights.swap == WeightSwap::kDrain; }
  void run(Running& running);
  void halt();
  void go_on();
  void finish(std::int64_t number);
  void swap_if_it_can();
  void end_swap(int version);
  void count();

  Clock& clock_;
  const RolloutSpec& spec_;
  SampleQueue& queue_;
  const double speed_;
  const Watcher watcher_;
  Life generation_;                             // ends where it halts
  std::map<std::int64_t, Running> running_;     // by number
  int version_ = 0, ready_ = 0, expected_ = 0;  // that it has, that has come, that is being sent
  bool is_swapping_ = false;
  Work work_;
  std::int64_t counted_ns_;  // until when work_ has counted
};

}  // namespace longhaul
