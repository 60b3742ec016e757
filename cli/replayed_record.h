// A case replayed in this process, with its tables in a folder that goes, for the numbers of its record.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/plan/trace.h"
#include "core/scenario/case.h"

namespace longhaul {

// `folder` is made and removed. Throws InputError for fidelity packet, which is another program; RunError,
// Interrupted.
Json replayed_record(const Case& config, const Trace& trace, const std::string& folder);

}  // namespace longhaul
