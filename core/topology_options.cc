#include "core/topology_options.h"

#include "core/errors.h"

namespace longhaul {

Node topology_options(std::vector<Node> sections) {
  return one_of("topology", std::move(sections)).required().means("who is joined to whom");
}

Node rank_order_options(const std::vector<std::string>& without_sites) {
  return either("rank_order", {choice("", {"blocks", "round-robin", "random", "optimized"}),
                               list_of("", integer("").at_least(0)).not_empty()})
      .by_default("blocks")
      .means(
          "which site rank (replica) 0, 1, … is at; rings, trees and halving-doubling go by rank. blocks: "
          "site after site; round-robin: over the sites in turn; random: a permutation drawn from the seed; "
          "optimized: a heuristic for the case's all-reduce on the paths' latency and throughput; a list: "
          "entry r is the place of rank r, places counted as in blocks. Only blocks on " +
          enumeration(without_sites, "and") + ", which have no sites");
}

Node override_options() {
  return list_of(
             "overrides",
             section("", {text("link").means("name of a link (links.csv) or a glob, as \"*-core\""),
                          either("replica", {integer("").at_least(0), text("")})
                              .means("instead of link: a replica, or a range as \"3-7\": all its links"),
                          rate("rate").means("both directions, above 0"),
                          rate("up").means("from the replica, or from the first to the second node of the "
                                           "link's name; above 0"),
                          rate("down").means("the other direction, above 0"),
                          duration("delay").means("one way, at least 0")}))
      .means("links that differ from the topology as built, in this order: the last one wins");
}

}  // namespace longhaul
