// The times of network.message_time: independent log-normal draws, one a message.
//
// A message is named by (step, rule, bucket, sender, number of the sender's message in the bucket), and its
// draw depends on that name and the seed alone: not on the order of events, so that `analytic` and `flow`
// give a message the same time. Groups of one exchange are disjoint: the sender names its group.
#pragma once

#include <cstdint>

#include "core/case.h"

namespace longhaul {

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

}  // namespace longhaul
