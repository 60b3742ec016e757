// A scenario that has passed everything that can be checked without training or simulating it.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/scenario.h"
#include "replay/placement/optimized_order.h"

namespace longhaul {

// The whole declaration: core's options with every method's and topology's own.
const Node& scenario_declaration();

// Reads, resolves, expands and checks: model shapes, method options, topology, placement, data paths.
// Throws InputError with the file and the JSON path inside it. `is_emulated`: as of check_network().
Scenario validated_scenario(const std::string& file, const std::vector<std::string>& assignments,
                            bool is_emulated = false);

// The same of any JSON that could stand in the file.
Scenario validated_as_written(Json written, const std::string& file, bool is_emulated = false);

// Equal where cases are the same to the network.
std::string network_key(const Case& config);

// The places of a case whose network.rank_order is "optimized". Cases that differ in nothing that they are
// found from share them: a search may take seconds, and is made once.
const OptimizedOrder& order_found(const Case& config);

// Its claims, a list that may be empty.
Json claims_of(const Scenario& scenario);

// What a user should know before running it, without repeats.
std::vector<std::string> scenario_warnings(const Scenario& scenario);

}  // namespace longhaul
