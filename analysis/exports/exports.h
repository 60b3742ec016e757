// A replay for other programs: timeline.json for chrome://tracing and Perfetto.
// Nothing of ours reads them back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/options.h"

namespace longhaul {

constexpr std::int64_t kMaximumSlices = 100'000;

enum class TimelineFormat { kJson, kGzip, kNone };

struct TimelineOptions {
  TimelineFormat format = TimelineFormat::kJson;
  std::int64_t maximum = kMaximumSlices;
};

// Writes CASE_FOLDER/timeline.json (timeline.json.gz with kGzip) from its steps.csv, exchanges.csv and
// transfers.csv, and removes the one of an earlier replay: a process a replica, with lanes for compute, wait
// (for the others), exchange, exchanges that overlap with compute, and single messages sent and received with
// arrows between them. With more slices than `maximum` only the first outer steps (at least one) are written;
// `otherData.sampled` and the case's log.txt say so. Throws RunError.
void write_timeline(const std::string& case_folder, const TimelineOptions& options = {});

}  // namespace longhaul
