#include "core/topology_options.h"

namespace longhaul {
namespace {

// mean = median · exp(sigma² / 2), so that sigma = sqrt(2 ln(mean / median)).
Node lognormal_rate(const std::string& key, const std::string& median, double sigma) {
  return section(
      key, {rate("median").above(0).by_default(median).means("half of the homes have more"),
            number("sigma").at_least(0).by_default(sigma).means("standard deviation of the logarithm")});
}

std::vector<Node> star_of(const std::string& link, const std::string& rtt) {
  return {rate("rate").above(0).means("of every " + link + ", both directions"),
          rate("up").above(0).means("instead of rate: towards the core"),
          rate("down").above(0).means("instead of rate: from the core"),
          duration("rtt").at_least(0).required().means(rtt)};
}

}  // namespace

// Ookla, USA, end of 2022: medians 193.7 down and 22.6 up, means 225.5 and 88.8 Mb/s.
Node homes_options() {
  return section("homes",
                 {lognormal_rate("up", "22.6Mbps", 1.65)
                      .filled()
                      .means("from a home to the core; the default sigma follows from a mean of 88.8 Mb/s"),
                  lognormal_rate("down", "193.7Mbps", 0.55)
                      .filled()
                      .means("from the core to a home; the default sigma follows from a mean of 225.5 Mb/s"),
                  rate("floor").above(0).by_default("1Mbps").means("what is drawn below it is raised to it"),
                  duration("rtt").at_least(0).by_default("14ms").means(
                      "round trip between a home and the core, as a speed test shows it; two homes are "
                      "twice that apart")})
      .means(
          "homes around an unlimited core, log-normal rates up and down drawn for each replica from the "
          "seed; the defaults are what Ookla measured in the USA at the end of 2022");
}

Node hierarchical_options() {
  return section(
             "hierarchical",
             {either("sites", {integer("").at_least(1), table_of("", integer("").at_least(0)).not_empty()})
                  .required()
                  .means("how many sites, among which the replicas are spread evenly, or {site: replicas}"),
              section("inside", star_of("replica's link inside its site",
                                        "round-trip time between two replicas at one site"))
                  .required()
                  .means("the network of each site"),
              section("trunk", star_of("site's link to the wide-area core, which its replicas share",
                                       "round-trip time between two replicas at different sites"))
                  .required()
                  .means("what joins the sites")})
      .means("fast sites joined by slow links: a star of stars");
}

Node graphml_options() {
  return section(
             "graphml",
             {text("file").required().means(
                  "a GraphML file as in the Internet Topology Zoo, relative to the scenario's folder"),
              either("replicas", {table_of("", integer("").at_least(0)).not_empty(), choice("", {"even"})})
                  .required()
                  .means("replicas at each node, by label, or \"even\": spread evenly, in the file's order, "
                         "over the nodes with coordinates"),
              rate("rate").above(0).by_default("10Gbps").means("of every access link, replica to node"),
              duration("rtt").at_least(0).by_default("1ms").means(
                  "round-trip time between two replicas at one node; each access link is a quarter of it"),
              rate("default_rate")
                  .above(0)
                  .means("of edges without LinkSpeedRaw and without an OC-n in LinkLabel or LinkNote"),
              duration("default_delay")
                  .at_least(0)
                  .means("one way, of edges at a node without Latitude and Longitude"),
              number("inflation")
                  .at_least(1)
                  .by_default(1.55)
                  .means("one-way delay of an edge over great circle / (200 km/ms): 1.55 was measured "
                         "between clouds, 2.1 for end hosts"),
              choice("routing", {"delay", "hops"})
                  .by_default("delay")
                  .means("a path has the least delay, or the fewest hops")})
      .means("a network of the Internet Topology Zoo: delays from coordinates, rates from the edges");
}

Node rank_order_options() {
  return either("rank_order", {choice("", {"blocks", "round-robin", "random", "optimized"}),
                               list_of("", integer("").at_least(0)).not_empty()})
      .by_default("blocks")
      .means(
          "which site rank (replica) 0, 1, … is at; rings, trees and halving-doubling go by rank. blocks: "
          "site "
          "after site; round-robin: over the sites in turn; random: a permutation drawn from the seed; "
          "optimized: a heuristic for the case's all-reduce on the paths' latency and throughput; a list: "
          "entry "
          "r is the place of rank r, places counted as in blocks. Only blocks on star, mesh and homes, which "
          "have no sites");
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
