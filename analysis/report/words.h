// What was run, in words: the resolved scenario as a short list for the top of the report.
#pragma once

#include <vector>

#include "core/options.h"

namespace longhaul {

// [{"term": "Network", "text": "..."}]. Says what it can of a scenario that lacks keys.
Json run_in_words(const Json& scenario, const std::vector<Json>& records);

}  // namespace longhaul
