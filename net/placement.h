// Which replicas are at which site: in the order of the sites, the first ones first.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/scenario/case.h"
#include "net/topology.h"

namespace longhaul {

// The links that join replicas to the router they are at: of a star, and of each site of the others.
struct AccessLinks {
  double up = 0, down = 0;  // bit/s, towards the router and from it
  double rtt = 0;           // s, between two replicas at one router; each link is a quarter of it one way
};

// From {rtt, rate} or {rtt, up, down}. Throws InputError at `path` for both or neither.
AccessLinks parse_access_links(const Json& json, const std::string& path);

// "1Gbps", or "20Mbps up, 200Mbps down", of such a section.
std::string rates_in_words(const Json& json);

// Of a topology with sites: what the site of a host is called.
std::string site_name(const Topology& topology, int host);

using Placement = std::vector<std::pair<std::string, int>>;  // site, replicas

// From {site: count}, in the order written. Throws InputError at `path` if the counts do not add up to
// `replicas`.
Placement parse_placement(const Json& json, int replicas, const std::string& path);

// `sites` with so many replicas each that they are spread evenly; the first sites take the remainder.
Placement spread_evenly(Placement sites, int replicas);

// Without the sites that get no replica.
Placement without_empty_sites(Placement sites);

// Throws InputError at `path`.SITE, naming the nearest one, for a site that is none of `known`.
void check_sites_known(const Placement& sites, const std::vector<std::string>& known,
                       const std::string& path);

// The hosts of a case, not yet joined: its workers, and behind them the rollouts' groups, "rollout0", …, and
// their "store" where they have one.
Topology hosts_of(const Case& config, Routing routing = Routing::kFewestHops);

// The sites of the rollouts' groups and of their store that have no replica, behind the others, with 0 each.
// Throws InputError where the case does not place them, and where a site is none of `known`.
Placement with_sites_of_rollouts(Placement placement, const Case& config,
                                 const std::vector<std::string>& known);
// Of a topology without sites. Throws InputError where the case places its rollouts.
void refuse_places_of_rollouts(const Case& config);

// The access link of a host: its store's may have a rate of its own.
AccessLinks access_of(int host, const AccessLinks& access, const Case& config);

// Joins the replicas to their sites' routers (one an entry of `placement`) by access links of rtt / 4, and
// makes each entry a site. Replica r is at the site of its place by the case's rank order; rollouts are where
// their section says.
void attach_replicas(Topology& topology, const Placement& placement, const std::vector<int>& routers,
                     const AccessLinks& access, const Case& config);

// The order of ranks: which place, and so which site, each replica takes.
//
// Rank r is replica r everywhere (collectives, step times, factors, tables, trainer); the order decides only
// at which site replica r stands. Places are counted site by site in the order of the placement, so that
// place p of "blocks" is replica p. Collectives go by rank: a ring in blocks crosses each way between two
// sites once, a ring in another order may cross one at every hop.

// For each rank its place.
//
// blocks: the identity. round-robin: one place of each site in turn, in the order of the sites, passing over
// sites that are full. random: a permutation drawn from the seed, on a stream of its own. A list: as it is.
// kOptimized: likewise, once they were found; that needs the network's paths
// (replay/placement/optimized_order.h).
std::vector<int> places_of_ranks(const RankOrderSpec& order, const Placement& placement, std::uint64_t seed);

// The round robin over sites with so many places each.
std::vector<int> round_robin_places(const std::vector<int>& places_at);

}  // namespace longhaul
