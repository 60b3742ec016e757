// What a message meets between two sites of a network on which it is alone: all that a search for places
// knows of the network. Workers at one site are alike.
#pragma once

#include <vector>

#include "core/scenario/network_spec.h"
#include "net/site_tour.h"
#include "net/topology.h"

namespace longhaul {

struct SitePath {
  double latency_s = 0;   // one way
  double s_per_byte = 0;  // of payload: the other way round what the connections carry
};

class SitePaths {
 public:
  // `blocks`: the network with its workers site after site.
  SitePaths(const Topology& blocks, const TcpSpec& tcp);
  // One site, inside which every message meets the same.
  explicit SitePaths(const SitePath& everywhere) : first_{0}, places_{1}, paths_{everywhere} {}

  int sites() const { return static_cast<int>(places_.size()); }
  const std::vector<int>& places() const { return places_; }  // by site, how many
  // Inside a site of one worker: never asked for, 0.
  const SitePath& between(int from, int to) const { return paths_[as_index(from * sites() + to)]; }
  HopCosts hop_costs(double bytes) const;  // of a message of so many

  // For each worker the next free place of its site.
  std::vector<int> places_at(const std::vector<int>& site_of) const;
  // The other way round.
  std::vector<int> sites_of(const std::vector<int>& places) const;

 private:
  std::vector<int> first_, places_;
  std::vector<SitePath> paths_;
};

}  // namespace longhaul
