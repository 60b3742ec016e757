// What nodes send each other in a whole training and what leaves each site, from the plan of operations
// alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/trace.h"
#include "core/scenario/case.h"
#include "net/topology.h"

namespace longhaul {

// Bytes of payload from one node to another.
using NodeTraffic = std::map<std::pair<int, int>, double>;

// What groups of everyone send, which many candidates have in common: those that differ in H, in connections
// or in the places of the ranks alone.
class KnownTraffic {
 public:
  // Of a group of everyone that exchanges so; `count` is asked where it is not known.
  const NodeTraffic& of(const std::string& exchange, const std::function<NodeTraffic()>& count);

 private:
  std::map<std::string, NodeTraffic> known_;
};

// Of the whole training. `trace` is of the first steps of the case (steps_to_replay()), `steps` all of them.
// Each period of the rest sends what those of the trace do on average, after a warm-up of the method. Its
// messages are between replicas alone (no merges).
NodeTraffic node_traffic(const Case& config, const Trace& trace, const Topology& topology, std::int64_t steps,
                         KnownTraffic& known);
NodeTraffic node_traffic(const Case& config, const Trace& trace, const Topology& topology,
                         std::int64_t steps);

// A site is called by the router that its nodes' links lead to; where the network has none each node is one:
// "node 3".
std::vector<std::string> site_names(const Topology& topology);

struct SiteTraffic {
  std::vector<std::string> sites;  // site_names()
  std::vector<double> leaving;     // bytes of IP packets to nodes of other sites
  double together() const;
};

SiteTraffic site_traffic(const NodeTraffic& traffic, const Topology& topology, int segment);

// The longest time that a direction of a link, or the connections of two nodes, need for their bytes, in
// seconds: in fidelity flow the training takes at least as long.
double busiest_s(const NodeTraffic& traffic, const Topology& topology, const TcpSpec& tcp);

}  // namespace longhaul
