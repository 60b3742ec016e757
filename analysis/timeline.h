// timeline.json: a replay for chrome://tracing and Perfetto. A view for people; nothing reads it back.
#pragma once

#include <cstdint>
#include <string>

namespace longhaul {

constexpr std::int64_t kMaximumSlices = 100'000;

// Writes CASE_FOLDER/timeline.json from its steps.csv and exchanges.csv: a process a replica, with a lane
// each for compute, wait (for the others), exchange, and exchanges that overlap with compute. With more
// slices than `maximum` only the first outer steps (at least one) are written, and `otherData.sampled` says
// so. Throws RunError.
void write_timeline(const std::string& case_folder, std::int64_t maximum = kMaximumSlices);

}  // namespace longhaul
