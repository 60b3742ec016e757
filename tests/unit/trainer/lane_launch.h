// A launcher whose rows are done by a team of 32, as a warp of a GPU does them, each lane a thread of its
// own: what lanes read, write and add up together can be tested without a GPU.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "trainer/device/host_device.h"

namespace longhaul::testing_lanes {

constexpr int kLanes = 32;

struct Shared {
  pthread_barrier_t meeting;
  double values[kLanes] = {};
};

class LaneTeam {
 public:
  LaneTeam(Shared& shared, int lane) : shared_(&shared), lane_(lane) {}
  int lane() const { return lane_; }
  int lanes() const { return kLanes; }
  // Each lane with those that are 16, 8, … 1 away, as WarpTeam.
  template <typename Number>
  Number sum(Number value) const {
    for (int away = 16; away > 0; away /= 2) value += from_lane(value, lane_ ^ away);
    return value;
  }
  float largest(float value) const {
    for (int away = 16; away > 0; away /= 2) value = std::max(value, from_lane(value, lane_ ^ away));
    return value;
  }
  std::uint32_t which(bool says_yes) const {
    shared_->values[lane_] = says_yes ? 1 : 0;
    sync();
    std::uint32_t bits = 0;
    for (int lane = 0; lane < kLanes; ++lane)
      if (shared_->values[lane] > 0) bits |= std::uint32_t{1} << lane;
    sync();
    return bits;
  }
  void sync() const { pthread_barrier_wait(&shared_->meeting); }

 private:
  template <typename Number>
  Number from_lane(Number value, int other) const {
    shared_->values[lane_] = value;
    sync();
    const auto found = static_cast<Number>(shared_->values[other]);
    sync();
    return found;
  }

  Shared* shared_;
  int lane_;
};

struct LaneLaunch : HostLaunch {
  static constexpr int kLanes = testing_lanes::kLanes;

  template <typename Work>
  void rows(std::int64_t count, const Work& work) const {
    Shared shared;
    pthread_barrier_init(&shared.meeting, nullptr, kLanes);
    std::vector<std::thread> lanes;
    for (int lane = 0; lane < kLanes; ++lane)
      lanes.emplace_back([&, lane] {
        for (std::int64_t row = 0; row < count; ++row) work(LaneTeam(shared, lane), row);
      });
    for (std::thread& lane : lanes) lane.join();
    pthread_barrier_destroy(&shared.meeting);
  }
  template <typename Work>
  void blocks(std::int64_t count, const Work& work) const {
    rows(count, work);
  }
};

}  // namespace longhaul::testing_lanes
