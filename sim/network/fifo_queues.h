// The FIFOs of the flow fidelity: who is in them together.
//
// A flow's data waits at one link of its path, the one that leaves each flow least (the first of several).
// There the acknowledgements of the other direction wait behind it. Bursts that overlap share the room:
// the burst that ends first takes it first, as the packets that come last find the queue
// full; so of several connections in step some lose a burst and others nothing.
#pragma once

#include <memory>
#include <vector>

#include "core/base/index.h"
#include "core/scenario/case.h"
#include "net/sharing/fair_shares.h"
#include "net/topology.h"
#include "sim/network/flow_channel.h"

namespace longhaul {

class FifoQueues {
 public:
  // All must outlive it. Flows have the numbers of `shares`.
  FifoQueues(const TcpSpec& tcp, const Topology& topology, const FairShares& shares);

  // The queues that flow `number` meets; flows are added in the order of their numbers.
  std::unique_ptr<FifoPath> add(int number, const ConnectionFacts& facts);
  // Flow `number` has sent until `until_s`; or will from `now_s` until `until_s`. Of an instant in which
  // several change first all that was sent.
  void sent(int number, double until_s);
  void sends(int number, double now_s, double until_s);

 private:
  friend class FlowFifoPath;

  struct Reserved {
    int flow;
    double until_s, bytes;
  };
  struct Queue {
    double from_s = 0, until_s = 0;  // the latest time in which data went out without a pause
    std::vector<Reserved> reserved;
  };
  struct Known {
    const ConnectionFacts* facts = nullptr;
    LinkDirection at = 0;  // where its data waits
    double until_s = 0;    // its burst
  };

  Queue& queue(LinkDirection direction) { return queues_[as_index(direction)]; }
  const Queue& queue(LinkDirection direction) const { return queues_[as_index(direction)]; }
  const Known& known(int number) const { return known_[as_index(number)]; }
  LinkDirection waits_at(const ConnectionFacts& facts) const;
  double wait_s(LinkDirection direction, double arrival_s) const;
  double room(int number, double begin_s, double end_s, double level);

  TcpSpec tcp_;
  const Topology& topology_;
  const FairShares& shares_;
  std::vector<Queue> queues_;  // by direction
  std::vector<Known> known_;   // by flow
};

}  // namespace longhaul
