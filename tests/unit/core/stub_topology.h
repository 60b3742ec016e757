// A topology for tests of what knows no network: core, methods and trainer read its name and its section, and
// never what the section means.
#pragma once

#include "core/scenario/scenario_options.h"

namespace longhaul {

inline TopologyOptions stub_topologies() {
  return {{section("star", {rate("rate").above(0), duration("rtt").at_least(0).required()}),
           section("cloud", {text("name").by_default("mine")})},
          {"star"}};
}

}  // namespace longhaul
