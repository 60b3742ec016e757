// One outer step of one case as lanes, one a replica: the picture that tells an all-reduce from pairs.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/json.h"

namespace longhaul {

// The outer step in the middle of the run:
//   {"step", "index" (1 …), "count", "from_step", "replicas", "lanes": [lane, ...]}
//   lane: {"replica", "group", "from", "ready", "start", "done", "ahead": [[start, done], ...]}
// Times are seconds since the first replica of the run went on from the outer step before. `group` numbers
// the groups of this exchange (0 for all where everybody is in one), lanes stand in the order of the groups,
// and at most `lanes` of them (whole groups, at least one) are given. `ahead`: exchanges that overlapped with
// this compute. Null where the case never exchanges or was not replayed.
Json outer_step_of(const std::string& case_folder, std::size_t lanes);

}  // namespace longhaul
