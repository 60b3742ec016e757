// A scenario that has passed everything that can be checked without training or simulating it.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/scenario.h"

namespace longhaul {

// The whole declaration: core's options with every method's and topology's own.
const Node& scenario_declaration();

// Reads, resolves, expands and checks: model shapes, method options, topology, placement, data paths.
// Throws InputError with the file and the JSON path inside it.
Scenario validated_scenario(const std::string& file, const std::vector<std::string>& assignments);

// Its claims, a list that may be empty.
Json claims_of(const Scenario& scenario);

// What a user should know before running it, without repeats.
std::vector<std::string> scenario_warnings(const Scenario& scenario);

}  // namespace longhaul
