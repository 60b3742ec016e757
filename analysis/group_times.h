// How long an exchange takes until the last of its group is done: what the NoLoCo paper's latency figure
// compares, where `sync_time_s.mean` asks how long a replica is held up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan/trace.h"

namespace longhaul {

class GroupTimes {
 public:
  // Reads the groups from the trace of the case; without one everybody is one group.
  GroupTimes(const std::string& case_folder, int replicas);

  // A row of exchanges.csv: the rows of one exchange stand together. `sync_s`: done − start.
  void add(std::int64_t step, const std::string& rule, std::int64_t replica, double sync_s);
  // Mean over exchanges and their groups of the longest sync_s in the group; 0 without any.
  double mean_of_last();

 private:
  void finish_exchange();
  const std::vector<std::vector<int>>* groups() const;

  Trace trace_;
  std::int64_t step_ = -1;
  std::string rule_;
  std::vector<double> sync_s_;  // by replica, of the exchange at hand; negative: takes no part
  double total_s_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace longhaul
