// How long each synchronization of one case took, for the distribution and for the shares of each replica.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace longhaul {

struct SyncTimes {
  std::vector<double> sync_s;           // done − start, of each outer step and replica, as in a case record
  std::vector<double> wait_of_replica;  // waited for others, summed over the outer steps
};

// From exchanges.csv, what counts as synchronization (exchange_table.h). Throws RunError for a damaged file.
SyncTimes sync_times(const std::string& case_folder);

// The cumulative shares (0 … 1) at which a distribution is drawn.
const std::vector<double>& quantile_levels();

// The quantiles of sync_s at these levels; one number where all are the same, null without any.
Json sync_distribution(const SyncTimes& times);

// {"replicas": count, "shown": [numbers], "compute", "exchange", "wait": [seconds]} from replicas.csv: what
// adds up to the clock of each replica. With more than `most` replicas those at evenly spaced ranks of idle
// time are shown, the least and the most idle among them, in the order of their numbers. Null without
// replicas.csv.
Json times_of_replicas(const std::string& case_folder, const SyncTimes& times, std::size_t most);

}  // namespace longhaul
