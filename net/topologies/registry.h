// A topology as a scenario chooses it: its options, what contradicts them, the graph, and its words. Each is
// one file of this folder; registry.cc lists them all.
#pragma once

#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/scenario/case.h"
#include "core/scenario/scenario_options.h"
#include "net/topology.h"

namespace longhaul {

struct TopologyKind {
  // The section network.topology.NAME: its key is the topology's name, its meaning what `longhaul list
  // networks` says of it.
  Node options;
  // Throws InputError (JSON path, without a file) where values of the section contradict each other or what
  // stands beside it. Reads no files.
  void (*check)(const Case& config);
  // The network without its overrides. Throws InputError as check(), and for a file or a site that cannot be
  // found.
  Topology (*build)(const Case& config);
  // The section as a part of a sentence, for the report. Says what it can where keys are missing.
  std::string (*words)(const Json& section);
  // Whether its replicas stand at sites, several at one or not: else there is no order of ranks to choose.
  bool has_sites = false;
  // Without sites: why no order differs from another, for a user who asks for one.
  std::string why_no_order = {};
  // Whether network.message_time may stand beside it.
  bool takes_message_time = false;
  // What was assumed of the files that the section names, and what was not read in them: for `check`.
  std::vector<std::string> (*notes)(const Case& config) = nullptr;

  const std::string& name() const { return options.key; }
};

// What the checks of several kinds say.
constexpr char kTakesMessageTime[] = "topology mesh, or star with an rtt of 0";
constexpr char kReplicasAlike[] = "all replicas of a star or a mesh are alike: no order differs from another";

// All topologies, in the order of the schema and the lists.
const std::vector<TopologyKind>& topologies();

// Throws InputError at network.topology naming the nearest for a name that does not exist.
const TopologyKind& topology_named(const std::string& name);

// For scenario_options().
TopologyOptions topology_options();

// "regions, hierarchical or graphml": what to take where a setting needs sites.
std::string topologies_with_sites();

// All that can be wrong about the topology of a case and what stands beside it in the section network,
// without reading a file. Throws InputError (JSON path, without a file).
void check_topology(const Case& config);

// Of a case from a file, which another program may have written: throws InputError where its section is not
// as declared. core/, which reads the rest of a case, knows no topology.
void check_topology_options(const Case& config);

// The network of a case, with its overrides. Throws InputError (JSON path, without a file) for what does not
// exist (a site, a matrix, a graph file, a link) and for what cannot be: an impossible delay, a rate of 0, a
// graph that falls apart. Not for the rank order "optimized" (placed_topology() in
// replay/placement/optimized_order.h).
Topology build_topology(const Case& config);

// What a user should know of the files of a topology that can be built.
std::vector<std::string> topology_notes(const Case& config);

}  // namespace longhaul
