// How the sections of a resolved case are read. For core/case.cc alone; everybody else reads a Case.
#pragma once

#include <optional>
#include <string>

#include "core/case.h"

namespace longhaul {

ModelShape parse_shape(const Json& json, const std::string& path);  // checked; errors below `path`
TrainSpec parse_train(const Json& json);
WorkloadSpec parse_workload(const Json& json, const std::optional<TrainSpec>& train);
NetworkSpec parse_network(const Json& json, int replicas);  // without its variation
// `network`: the whole section; files are relative to `folder`.
VariationSpec parse_variation(const Json& network, const std::string& folder);

}  // namespace longhaul
