// Log-normal jitter: a factor of mean 1 on the rate and on the delay of each direction of each link, drawn
// anew every period.
//
// A draw belongs to (seed, name of the link, direction, period) and to nothing else: another link, another
// replica or a period without data changes no factor. exp(σ z − σ²/2) with a standard normal z has mean 1.
#pragma once

#include <cstdint>
#include <string>

#include "core/scenario/network_spec.h"

namespace longhaul {

class LinkJitter {
 public:
  struct Factors {
    double rate = 1, delay = 1;
  };

  LinkJitter(const JitterSpec& spec, std::uint64_t seed);

  // `direction`: 0 forward, 1 backward.
  Factors factors(const std::string& link, int direction, std::int64_t time_ns) const;
  std::int64_t next_change_ns(std::int64_t time_ns) const { return (time_ns / every_ns_ + 1) * every_ns_; }

 private:
  JitterSpec spec_;
  std::uint64_t seed_;
  std::int64_t every_ns_;
};

}  // namespace longhaul
