// Random loss on a path: which byte of a connection is the next to be lost. Packets are lost independently
// (as ns-3's RateErrorModel), so the number of packets up to the next loss is geometric.
#pragma once

#include "core/random.h"

namespace longhaul {

class RandomLosses {
 public:
  // `probability`: of a packet, on the whole path. The stream is the connection's own.
  RandomLosses(double probability, double segment, RandomStream stream);

  double bytes_to_next() const { return to_next_; }
  // `bytes` more were sent, at most bytes_to_next(); draws the next loss once the present one is reached.
  bool sent(double bytes);

 private:
  void draw();

  double probability_, segment_;
  RandomStream stream_;
  double to_next_ = 0;
};

// Of one packet over `links` links that lose each with `probability`.
double path_loss(double probability, int links);

}  // namespace longhaul
