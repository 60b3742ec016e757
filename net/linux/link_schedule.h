// What the directions of links have, and from when on, in fidelity `linux`: a Variation that is looked at
// ahead of the simulation, so that a queue knows when a packet will have left although its link changes while
// it waits.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "net/linux/packet.h"
#include "net/variation/variation.h"

namespace longhaul::linux_tcp {

class LinkSchedule {
 public:
  struct Stretch {
    Nanoseconds begin = 0;
    double rate = 0;  // bit/s for those who share; 0: an outage
    Nanoseconds delay = 0;
    double loss = 0;  // of a packet, by faults
  };

  explicit LinkSchedule(std::unique_ptr<Variation> variation);

  // Nobody will ask for an earlier time: what lies between is not looked at.
  void forget_before(Nanoseconds time);
  // What holds at a time.
  const Stretch& at(LinkDirection direction, Nanoseconds time);
  // When `bytes` have left whose sending begins then. Throws RunError if that never comes.
  double finish(LinkDirection direction, double begin, std::int32_t bytes);
  // The shortest delay from `begin` to `end`.
  Nanoseconds least_delay(LinkDirection direction, Nanoseconds begin, Nanoseconds end);

 private:
  void look_ahead(Nanoseconds time);
  void look_past(LinkDirection direction);
  void note(LinkDirection direction, Nanoseconds begin);
  std::size_t find(LinkDirection direction, Nanoseconds time);

  std::unique_ptr<Variation> variation_;
  std::vector<std::deque<Stretch>> stretches_;  // by direction, ascending
  Nanoseconds known_ = 0;                       // changes up to then are noted
  Nanoseconds forgotten_ = 0;
};

}  // namespace longhaul::linux_tcp
