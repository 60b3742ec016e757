// What was run, for the top of the report.
#pragma once

#include <vector>

#include "core/base/json.h"

namespace longhaul {

// The sections of the scenario as written, what was swept, and the seeds:
// [{"term": "Network", "text": "..."}]
Json run_in_words(const Json& written, const std::vector<Json>& records);

}  // namespace longhaul
