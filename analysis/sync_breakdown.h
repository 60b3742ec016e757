// Where the time of a synchronization goes, in one record a case: the means of the parts in breakdown.csv.
#pragma once

#include <cstddef>
#include <string>

#include "core/options.h"

namespace longhaul {

// {part: seconds} over the rows of CASE_FOLDER/breakdown.csv that count as synchronization
// (exchange_table.h), divided by `syncs` (outer steps of all replicas), so that the parts add up to the mean
// synchronization time. Null without such rows. Throws RunError.
Json sync_breakdown(const std::string& case_folder, std::size_t syncs);

}  // namespace longhaul
