// What a replica keeps besides its weights, its gradient and the inner optimizer's two moments: rows of
// float32 numbers, each as long as the weights. Methods declare theirs by name (Method::keeps); codecs with
// error feedback have theirs besides. Arena, planner and recovery take them from here.
#pragma once

#include <string>
#include <vector>

#include "core/plan/operations.h"

namespace longhaul {

// Rows that several methods keep.
inline const std::string kSlowWeightsRow = "slow_weights", kOuterMomentumRow = "outer_momentum";
// Rows of codecs: what could not be sent; of EF21, the mean of what was; and of Reduction::kServers what the
// rounded means left out, of which a server keeps its 1/N and a replica here all.
inline const std::string kErrorRow = "error", kSentMeanRow = "sent_mean", kServerErrorRow = "server_error";

// Whether a codec of the plan feeds errors back in this way.
bool feeds_back(const OperationPlan& plan, Feedback kind);
bool has_servers(const OperationPlan& plan);  // Reduction::kServers

// All of them: the method's, then those of its codecs.
std::vector<std::string> kept_rows(const OperationPlan& plan);

}  // namespace longhaul
