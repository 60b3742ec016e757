// A replica is slow for a while.
#include "core/scenario/fault.h"
#include "core/scenario/network_spec.h"

namespace longhaul {
namespace slow {
namespace {

void read(const FaultEntry& entry, Fault& fault) {
  fault.replicas = parse_replica_range(entry.json.at("replicas"), entry.workers, entry.path + ".replicas");
  fault.compute = entry.json.at("factor");
}

}  // namespace
}  // namespace slow

FaultKind slow_fault() {
  return {section("slow", {either("replicas", {integer("").at_least(0), text("")})
                               .required()
                               .means("a worker, a range of them, as \"0-3\", or \"all\""),
                           number("factor").above(1).at_most(1e6).required().means(
                               "its compute takes so many times as long")})
              .means("a replica is slow"),
          slow::read};
}

}  // namespace longhaul
