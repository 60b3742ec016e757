// How many segments a replay of fidelity `linux` will send, before it starts.
//
// Its own follow from the messages. Long-lived connections of others (network.variation.background, `flows`)
// send for as long as the training lasts: at their fair share of each link beside an exchange, and with the
// links to themselves while replicas compute. That is a least: an exchange beside them takes longer than even
// shares say where its windows do not come to them, behind FIFOs up to five times as long.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/scenario/case.h"
#include "net/collectives/collective.h"
#include "net/topology.h"

namespace longhaul {

// Of `transfers` messages of `bytes` together, as if all were equally long: the part of each connection in
// whole segments. What is lost and sent again is not counted.
std::int64_t segments_of(std::int64_t transfers, std::int64_t bytes, const TcpSpec& tcp);

class OtherTraffic {
 public:
  // `topology` must outlive it. Throws InputError as Variation does.
  OtherTraffic(const Case& config, const Topology& topology);

  bool is_empty() const { return flows_.empty(); }

  // Of one exchange: how long it takes where connections share each link evenly, without start-up and losses,
  // and how many segments others send meanwhile.
  struct Beside {
    double seconds = 0, segments = 0;
  };
  // `replicas` of the members; empty: member i is replica i. `are_many`: other groups like this one exchange
  // at the same time on links of their own.
  Beside beside(const Collective& collective, const GroupExchange& group, const std::vector<int>& replicas,
                bool are_many) const;
  // While no replica sends.
  double segments_alone(double seconds) const { return seconds * segments_a_second({}, 0); }

 private:
  struct Flow {
    std::vector<LinkDirection> data;
    double connections = 1;
    double is_on = 1;  // share of the time
  };

  double segments_a_second(const std::map<LinkDirection, double>& own, double elsewhere) const;

  const Topology& topology_;
  TcpSpec tcp_;
  std::vector<Flow> flows_;
  std::vector<double> capacities_;             // by direction, bit/s
  std::map<LinkDirection, double> others_at_;  // connections of others, mean over time
};

}  // namespace longhaul
