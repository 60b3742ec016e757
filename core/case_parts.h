// How the sections of a resolved case are read. For core/case.cc alone; everybody else reads a Case.
#pragma once

#include <optional>
#include <string>

#include "core/case.h"

namespace longhaul {

ModelShape parse_shape(const Json& json, const std::string& path);  // checked; errors below `path`
TrainSpec parse_train(const Json& json);
WorkloadSpec parse_workload(const Json& json, const std::optional<TrainSpec>& train);
std::vector<double> parse_step_time_factors(const Json& workload, int replicas);
NetworkSpec parse_network(const Json& json, int replicas);  // without its variation
// `network`: the whole section; files are relative to `folder`.
VariationSpec parse_variation(const Json& network, const std::string& folder);

std::vector<LinkOverride> parse_overrides(const Json& json, int replicas);

// `json`: a word or a list of places. Throws InputError for a list that is no permutation of 0 … replicas
// − 1.
RankOrderSpec parse_rank_order(const Json& json, int replicas);

// "3" or "3-7": the first and the last one.
std::pair<int, int> parse_replica_range(const std::string& text, int replicas, const std::string& path);

}  // namespace longhaul
