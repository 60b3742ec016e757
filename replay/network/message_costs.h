// What a message takes where no message knows of any other: nothing is shared, and there is no window.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/scenario/case.h"
#include "net/topology.h"

namespace longhaul {

// The times of network.message_time: independent log-normal draws, one a message.
//
// A message is named by (step, rule, bucket, sender, number of the sender's message in the bucket), and its
// draw depends on that name and the seed alone: not on the order of events, so that `analytic` and `flow`
// give a message the same time. Groups of one exchange are disjoint: the sender names its group.
struct MessageKey {
  int step = 0, rule = 0, sender = 0, number = 0;  // number < 2^20
  int bucket = 0;                                  // of an exchange in buckets (kMostBuckets of core/)
};

class MessageTimes {
 public:
  MessageTimes(const MessageTimeSpec& spec, std::uint64_t seed);

  double seconds(const MessageKey& key) const;

 private:
  double mean_s_, mu_ = 0, sigma_ = 0;  // of the logarithm
  std::uint64_t seed_;
};

// What a message takes in the analytic fidelity: a drawn time, or one-way delay + bytes / rate of the path.
class MessageCosts {
 public:
  // What a message from one replica to another meets.
  struct Way {
    std::vector<LinkDirection> directions;
    double delay_s = 0;      // one way
    double bytes_per_s = 0;  // of payload: the slowest link, or the matrix's throughput of the connections
  };

  // `topology` must outlive it.
  MessageCosts(const NetworkSpec& network, const Topology& topology, std::uint64_t seed);

  const Way& way(int source, int target);
  std::int64_t time_ns(const MessageKey& key, const Way& way, std::int64_t bytes) const;
  // Of it, the bytes alone; not for drawn times.
  std::int64_t sending_ns(const Way& way, std::int64_t bytes) const;
  // Of it, what is latency.
  std::int64_t latency_ns(const Way& way) const;
  std::int64_t wire_bytes(std::int64_t bytes) const;  // with headers

 private:
  TcpSpec tcp_;
  const Topology& topology_;
  std::optional<MessageTimes> drawn_;
  std::unordered_map<std::uint64_t, Way> ways_;  // by source and target; never walked
};

}  // namespace longhaul
