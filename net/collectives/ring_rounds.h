// Collectives around the ring 0 → 1 → … → n − 1 → 0, in whose rounds each member sends one unit to its
// successor: a 1/n of the vector, or all of it. Idle star: rounds · (latency + unit / rate), and in slices
// pipelined_rounds_s().
#pragma once

#include "net/collectives/collective.h"
#include "net/collectives/slices.h"

namespace longhaul {

class RingRounds : public Collective {
 public:
  Shape shape(int) const override { return Shape::kRing; }
  double idle_star_s(const GroupExchange& exchange, double latency_s, double bytes_per_s) const override {
    return rounds(exchange) * (latency_s + unit(exchange) / bytes_per_s);
  }
  std::int64_t unit_bytes(const GroupExchange& exchange) const override {
    return largest_part(exchange.bytes, units(exchange));
  }
  double sliced_idle_star_s(const GroupExchange& exchange, int slices, double latency_s,
                            double bytes_per_s) const override {
    return pipelined_rounds_s(rounds(exchange), unit(exchange) / bytes_per_s, slices, latency_s);
  }

 private:
  virtual int units(const GroupExchange& exchange) const { return exchange.members; }  // of a vector
  double unit(const GroupExchange& exchange) const {
    return static_cast<double>(exchange.bytes) / units(exchange);
  }
};

}  // namespace longhaul
