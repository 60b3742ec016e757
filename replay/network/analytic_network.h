// The network of fidelity `analytic`, and of `flow` where messages draw their times on a mesh: no message
// knows of any other. A message takes its drawn time, or one-way delay + bytes / rate of its path; nothing is
// shared, and there is no window (docs/model.md).
//
// Within an exchange (a bucket of it) messages from one replica to another arrive in the order of sending,
// and those that are in_turn also leave one after another: otherwise cutting a message would be sending its
// slices at once. Exchanges that overlap do not wait for each other.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "replay/network/network.h"

namespace longhaul {

// How long each direction of each link carried anything, from the intervals of its messages, which come in
// any order and may overlap: nothing is shared in the analytic fidelity.
class BusyTimes {
 public:
  explicit BusyTimes(std::size_t directions) : loads_(directions), open_(directions) {}

  void add(LinkDirection direction, std::int64_t begin_ns, std::int64_t end_ns, std::int64_t bytes);
  // No later message begins before `horizon_ns`: what ended before it is counted and forgotten.
  void count_until(std::int64_t horizon_ns);
  const std::vector<LinkLoad>& loads() const { return loads_; }

 private:
  using Interval = std::pair<std::int64_t, std::int64_t>;

  std::vector<LinkLoad> loads_;
  std::vector<std::vector<Interval>> open_;  // by direction
  std::vector<LinkDirection> used_;          // directions with open intervals
};

class AnalyticNetwork : public Network {
 public:
  // `topology` and `clock` must outlive it.
  AnalyticNetwork(const NetworkSpec& spec, const Topology& topology, std::uint64_t seed, Clock& clock);

  void send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts = nullptr) override;
  const std::vector<LinkLoad>& loads() override;

 private:
  // The messages of one exchange from one replica to another: step, rule, bucket, source, target.
  using Stream = std::tuple<int, int, int, int, int>;
  struct Course {
    std::int64_t latest_ns = 0;  // arrival of the latest one
    std::int64_t free_ns = 0;    // what left in turn has left
  };

  void count_until(std::int64_t horizon_ns);

  Clock& clock_;
  MessageCosts costs_;
  BusyTimes busy_;
  std::int64_t uncounted_ = 0;        // messages that busy_ still holds
  std::map<Stream, Course> courses_;  // of what is under way
};

}  // namespace longhaul
