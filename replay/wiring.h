// Who gets a micro-batch next, where each worker chooses by the throughput that it has measured: SWARM's
// stochastic wiring (arXiv 2301.11913, section 3.2), an interleaved weighted round robin.
//
// A worker keeps for each worker of the next stage how long a micro-batch took there: from handing it over to
// the end of its forward pass, as a moving average. It hands the next one to whom it has given the least work
// so far, each micro-batch counted with that time. One that it has not tried counts as the fastest that it
// knows. Among equals it begins with its own replica. What the publication leaves open and is ours: the
// weight of a new measurement, 0.2.
#pragma once

#include <vector>

#include "core/index.h"

namespace longhaul {

class Wiring {
 public:
  Wiring(int replicas, int parts)
      : replicas_(replicas), peers_(as_index(replicas) * as_index(parts) * as_index(replicas)) {}

  // The replica to which `replica` hands a micro-batch that it has taken through `part`.
  int choose(int replica, int part);
  // The one that it handed to `peer` took so many seconds.
  void measured(int replica, int part, int peer, double seconds);

 private:
  struct Peer {
    double seconds = -1;  // of a micro-batch; negative: not tried
    double given_s = 0;   // work in all
  };

  Peer* peers_of(int replica, int part) {
    return &peers_[(as_index(part) * as_index(replicas_) + as_index(replica)) * as_index(replicas_)];
  }

  int replicas_;
  std::vector<Peer> peers_;  // [part][replica][peer]
};

}  // namespace longhaul
