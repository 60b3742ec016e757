// Every option of a scenario, declared once. Methods and topologies bring their own options
// (methods/common/registry.h, net/topologies/registry.h), so that a new one is declared where it is written.
#pragma once

#include <vector>

#include "core/base/options.h"

namespace longhaul {

struct TopologyOptions {
  std::vector<Node> sections;              // one a topology, its key the topology's name
  std::vector<std::string> without_sites;  // the names of those on which ranks have no order
  std::vector<std::string> libraries = {};  // communication libraries (net/library.h); empty: any word
};

// `methods`: one section a method, its key the method's name.
Node scenario_options(std::vector<Node> methods, const TopologyOptions& topologies);

// The options that each method has besides its own; `optimizer`: its own defaults of train.optimizer's keys.
std::vector<Node> common_method_options(const Json& optimizer = Json::object());

// The declaration of `network` (network_spec.cc).
Node network_options(const TopologyOptions& topologies);

// The declaration of `network.tcp`: how a transfer is carried (tcp.cc).
Node tcp_options();

// The declaration of `network.variation`: what of a network changes with time.
Node variation_options();

}  // namespace longhaul
