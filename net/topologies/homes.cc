// Homes around an unlimited core, with rates drawn for each replica: independent log-normal variables up and
// down, from (seed, replica) alone, raised to the floor.
//
// A speed test's server stands for the core, so that its round trip is that of one access link, with a delay
// of rtt / 2; in a star the round trip is between two replicas.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/base/json.h"
#include "core/base/random.h"
#include "core/base/units.h"
#include "net/placement.h"
#include "net/topologies/registry.h"

namespace longhaul {
namespace homes {

struct LognormalRate {
  double median = 0;  // bit/s
  double sigma = 0;   // standard deviation of the logarithm
};

// mean = median · exp(sigma² / 2), so that sigma = sqrt(2 ln(mean / median)).
Node lognormal_rate(const std::string& key, const std::string& median, double sigma) {
  return section(
      key, {rate("median").above(0).by_default(median).means("half of the homes have more"),
            number("sigma").at_least(0).by_default(sigma).means("standard deviation of the logarithm")});
}

LognormalRate parse_lognormal_rate(const Json& json) {
  return {parse_rate(json.at("median")), json.at("sigma").get<double>()};
}

double draw(const LognormalRate& rate, double floor, RandomStream& stream) {
  return std::max(floor, stream.lognormal(std::log(rate.median), rate.sigma));
}

Topology build(const Case& config) {
  const Json& homes = config.network.topology.options;
  const LognormalRate up_rate = parse_lognormal_rate(homes.at("up")),
                      down_rate = parse_lognormal_rate(homes.at("down"));
  const double floor = parse_rate(homes.at("floor")), rtt = parse_duration(homes.at("rtt"));
  Topology topology = hosts_of(config);
  const int core = topology.add_router("core");
  for (int i = 0; i < config.hosts(); ++i) {
    RandomStream stream(config.seed, Purpose::kAccessRates, static_cast<std::uint32_t>(i));
    const double down = draw(down_rate, floor, stream), up = draw(up_rate, floor, stream);
    const AccessLinks own = access_of(i, {up, down, 2 * rtt}, config);
    topology.add_link({topology.node_name(i) + "-core", i, core, own.up, own.down, own.rtt / 4});
  }
  return topology;
}

std::string words(const Json& homes) {
  const auto drawn = [&](const char* way) {
    const Json rate = member(homes, way);
    return fmt::format("{} median {}, σ {}", way, text_of(rate, "median"), text_of(rate, "sigma"));
  };
  return fmt::format("homes with log-normal access rates, {}, {}, round trip to the core {}", drawn("up"),
                     drawn("down"), text_of(homes, "rtt"));
}

}  // namespace homes

// Ookla, USA, end of 2022: medians 193.7 down and 22.6 up, means 225.5 and 88.8 Mb/s.
TopologyKind homes_topology() {
  using namespace homes;
  return {
      section("homes",
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
              "seed; the defaults are what Ookla measured in the USA at the end of 2022"),
      refuse_places_of_rollouts,
      build,
      words,
      /*has_sites=*/false,
      "the rates of a home are drawn for each replica, so that homes are in random order"};
}

}  // namespace longhaul
