// A topology as a scenario chooses it: its options, what contradicts them, the graph, and its words. Each is
// one file of this folder; registry.cc has them all.
#pragma once

#include <string>
#include <vector>

#include "core/case.h"
#include "core/options.h"
#include "net/topology.h"

namespace longhaul {

struct TopologyKind {
  // The section network.topology.NAME: its key is the topology's name, its meaning what `longhaul list
  // networks` says of it.
  Node options;
  // Whether its replicas stand at sites, several at one or not: else there is no order of ranks to choose.
  bool has_sites = false;
  // Without sites: why no order differs from another, for a user who asks for one.
  std::string why_no_order;
  // Whether network.message_time may stand beside it.
  bool takes_message_time = false;
  // Throws InputError (JSON path, without a file) where values of the section contradict each other or what
  // stands beside it. Reads no files.
  void (*check)(const Case& one) = nullptr;
  // The network without its overrides. Throws InputError as check(), and for a file or a site that cannot be
  // found.
  Topology (*build)(const Case& one) = nullptr;
  // The section as a part of a sentence, for the report. Says what it can where keys are missing.
  std::string (*words)(const Json& section) = nullptr;

  const std::string& name() const { return options.key; }
};

// What the checks of several kinds say.
constexpr char kTakesMessageTime[] = "topology mesh, or star with an rtt of 0";
constexpr char kReplicasAlike[] = "all replicas of a star or a mesh are alike: no order differs from another";

}  // namespace longhaul
