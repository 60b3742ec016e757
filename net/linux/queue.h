// The queue in front of one direction of a link in fidelity `linux`.
//
// A first-in-first-out queue knows when a packet will have left as soon as it arrives, so that a departure is
// no event. A fair one (deficit round robin by connection, the scheduler of RFC 8290) does not; it may have
// CoDel on each connection's packets.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "net/linux/link_schedule.h"
#include "net/linux/packet.h"
#include "net/linux/packet_codel.h"
#include "net/linux/ring.h"

namespace longhaul::linux_tcp {

struct QueueRules {
  bool is_fair = false;
  bool has_codel = false, marks = false;  // of a fair one; marks: with ECN, else it drops
  double rate = std::numeric_limits<double>::infinity();          // bit/s on the wire
  std::int64_t limit = std::numeric_limits<std::int64_t>::max();  // bytes of what waits
  int bytes_beside = 0;  // that the limit does not count of a packet on the wire
  int slots = 0;         // packets of the device between the queue and the wire, which the limit leaves out
  double burst_s = 0;    // of a token bucket: so much of sending may be saved up
};

// How fast a direction of a link sends: at one rate, or as a schedule says.
class Pace {
 public:
  explicit Pace(double rate) : ns_per_byte_(8e9 / rate) {}
  Pace(LinkSchedule& schedule, LinkDirection direction) : schedule_(&schedule), direction_(direction) {}

  // When `bytes` have left whose sending begins then.
  double finish(double begin, std::int32_t bytes) const {
    if (!schedule_) return begin + ns_per_byte_ * static_cast<double>(bytes);
    return schedule_->finish(direction_, begin, bytes);
  }

 private:
  double ns_per_byte_ = 0;
  LinkSchedule* schedule_ = nullptr;
  LinkDirection direction_ = 0;
};

class FifoQueue {
 public:
  FifoQueue(const QueueRules& rules, const Pace& pace)
      : rules_(rules), pace_(pace), has_limit_(rules.limit < std::numeric_limits<std::int64_t>::max()) {}

  // When a packet of `bytes` that arrives now has left; kNever: there is no room for it.
  Nanoseconds enter(std::int32_t bytes, Nanoseconds now);
  std::int64_t dropped() const { return dropped_; }

 private:
  struct Waiting {
    Nanoseconds until_ns;
    std::int32_t bytes;
  };

  QueueRules rules_;
  Pace pace_;
  bool has_limit_;
  double free_ns_ = -1e18;
  Ring<Waiting> waiting_;       // that has not gone on to the device
  Ring<Nanoseconds> begin_ns_;  // of the latest `slots` packets
  std::int64_t bytes_ = 0, dropped_ = 0;
};

class FairQueue {
 public:
  FairQueue(const QueueRules& rules, const Pace& pace)
      : has_codel_(rules.has_codel), marks_(rules.marks), pace_(pace) {}

  void enter(const Packet& packet, std::int64_t flow, Nanoseconds now);
  // The next one to be sent now, if any.
  std::optional<Packet> next(Nanoseconds now);
  // When a packet has left whose sending begins now.
  Nanoseconds finish(std::int32_t bytes, Nanoseconds now) const {
    return static_cast<Nanoseconds>(pace_.finish(static_cast<double>(now), bytes));
  }
  std::int64_t dropped() const { return dropped_; }
  std::int64_t size() const { return size_; }  // packets in it
  // Those whose arrival may complete a message.
  int completing() const { return completing_; }
  // When the wire is free.
  Nanoseconds free_ns = 0;

 private:
  struct Waiting {
    Packet packet;
    Nanoseconds since;
  };
  struct Flow {
    Ring<Waiting> packets;
    std::int64_t deficit = 0, bytes = 0;
    bool is_listed = false;
    PacketCoDel codel;
  };

  Flow& flow(std::int64_t number);
  std::optional<Packet> take(Flow& flow, Nanoseconds now);

  bool has_codel_, marks_;
  Pace pace_;
  std::vector<Flow> flows_;  // by their numbers here
  std::deque<std::int64_t> fresh_, old_;
  std::int64_t dropped_ = 0;
  std::int64_t size_ = 0;
  int completing_ = 0;
};

}  // namespace longhaul::linux_tcp
