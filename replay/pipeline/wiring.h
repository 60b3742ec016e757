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

#include "core/base/index.h"

namespace longhaul {

class Wiring {
 public:
  // Worker r · stages + s serves stage s.
  Wiring(int replicas, int stages);

  // The worker of the next stage to which `worker` hands a micro-batch.
  int choose(int worker);
  // The one that it handed to `to` took so many seconds.
  void measured(int worker, int to, double seconds);

  // Nothing is handed to this worker any more; and it serves another stage from now on
  // (replay/pipeline/rebalance.h).
  void leave(int worker);
  void join(int worker, int stage);

 private:
  struct Peer {
    int worker = 0;
    double seconds = -1;  // of a micro-batch; negative: not tried
    double given_s = 0;   // work in all
  };

  int stages_;
  std::vector<int> stage_of_;             // by worker; -1: none
  std::vector<std::vector<Peer>> peers_;  // by worker: those of the next stage, in ascending order
};

}  // namespace longhaul
