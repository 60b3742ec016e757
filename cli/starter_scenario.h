// A scenario to start from: what longhaul new writes.
#pragma once

#include <string>
#include <vector>

#include "core/options.h"

namespace longhaul {

struct StarterChoices {
  std::string name = "my-scenario";
  bool train = true;
  std::vector<std::string> methods = {"ddp", "diloco", "noloco"};
  int replicas = 8;
  std::string network = "star";
  int seeds = 3;
};

// The topologies it can begin with: those that need no file.
const std::vector<std::string>& starter_networks();

// With every value written out that a user will want to change first. It has not been checked.
Json starter_scenario(const StarterChoices& choices);

}  // namespace longhaul
