// Replicas on access links of rtt / 4 around one router, "core".
#include <fmt/core.h>

#include "core/base/errors.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "net/placement.h"
#include "net/topologies/registry.h"

namespace longhaul {
namespace star {

AccessLinks parse(const Case& config) {
  return parse_access_links(config.network.topology.options, "network.topology.star");
}

// On a star a drawn time is the load that the message puts on its links, so that sharing is all the network
// adds.
void check(const Case& config) {
  const AccessLinks star = parse(config);
  if (config.network.message_time && star.rtt > 0)
    throw InputError("network.message_time", "found on a star with an rtt of " + human_duration(star.rtt),
                     kTakesMessageTime, "the drawn time is the whole time of a message, latency included");
  refuse_places_of_rollouts(config);
}

Topology build(const Case& config) {
  const AccessLinks star = parse(config);
  Topology topology = hosts_of(config);
  const int core = topology.add_router("core");
  for (int i = 0; i < config.hosts(); ++i) {
    const AccessLinks own = access_of(i, star, config);
    topology.add_link({topology.node_name(i) + "-core", i, core, own.up, own.down, own.rtt / 4});
  }
  return topology;
}

std::string words(const Json& star) {
  return fmt::format("star of access links with {}, round trip {}", rates_in_words(star),
                     text_of(star, "rtt"));
}

}  // namespace star

TopologyKind star_topology() {
  using namespace star;
  return {section("star",
                  {rate("rate").above(0).means("of every access link, both directions"),
                   rate("up").above(0).means("instead of rate: from a replica to the core"),
                   rate("down").above(0).means("instead of rate: from the core to a replica"),
                   duration("rtt").at_least(0).required().means("round-trip time between any two replicas")})
              .means("every replica on an access link of its own around one core"),
          check,
          build,
          words,
          /*has_sites=*/false,
          kReplicasAlike,
          /*takes_message_time=*/true};
}

}  // namespace longhaul
