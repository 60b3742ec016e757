// Which cases of a run may be compared with each other: those at the same point of the sweep.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace longhaul {

// The swept values of a record that all methods share, as "network.tcp.connections = 8, replicas = 64"; ""
// where nothing is swept. A key that addresses one method (methods.LABEL.key) makes a variant of that method
// and no point.
std::string sweep_point(const Json& record);

// The label of a case and, where its method is swept by itself, what tells its variants apart: "diloco
// (all_reduce = tree)".
std::string method_variant(const Json& record);

// The swept keys of the records, in the order in which they first occur.
std::vector<std::string> swept_keys(const std::vector<Json>& records);

}  // namespace longhaul
