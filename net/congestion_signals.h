// What the network tells the sender of one connection: that a queue on the path stands too high, or that a
// packet is gone.
//
// A queue is watched by its level, so that a source answers in closed form when its next signal comes while
// the level stays above, and nobody has to look at packets. Times are seconds since the simulation's zero,
// levels and lengths bytes of payload.
#pragma once

#include <limits>
#include <memory>

namespace longhaul {

constexpr double kNoSignal = std::numeric_limits<double>::infinity();

// A connection's own queue at its bottleneck.
class QueueSignals {
 public:
  virtual ~QueueSignals() = default;

  // The level above which the queue takes notice while it drains at `rate`, bytes a second.
  virtual double watched_level(double rate) const = 0;
  // The level is above the watched one since `since_s` (may lie in the near future), or no longer. Repeated
  // calls that change nothing are harmless.
  virtual void above(double since_s) = 0;
  virtual void below(double now_s) = 0;
  // When the first packet at or after `from_s` leaves with a signal, if the level stays above; kNoSignal if
  // none will. Signals before it are gone after this call.
  virtual double next_s(double from_s) = 0;
  // Whether packets are dropped, and sent again, or just marked.
  virtual bool drops() const = 0;
};

}  // namespace longhaul
