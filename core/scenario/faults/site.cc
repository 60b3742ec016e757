// A site is cut off.
#include "core/scenario/fault.h"

namespace longhaul {
namespace site {
namespace {

void read(const FaultEntry& entry, Fault& fault) {
  fault.site = entry.json.at("site").get<std::string>();
  fault.rate = 0;
}

}  // namespace
}  // namespace site

FaultKind site_fault() {
  return {section("site", {text("site").required().means(
                              "name of a router: all its links but those to its own replicas carry nothing")})
              .means("a site is cut off"),
          site::read};
}

}  // namespace longhaul
