#include "replay/work/stage_assignment.h"

#include <cstddef>
#include <stdexcept>

namespace longhaul {

StageAssignment::StageAssignment(int replicas, int stages)
    : stages_(stages), intervals_(as_index(replicas * stages)) {
  for (std::size_t worker = 0; worker < intervals_.size(); ++worker)
    intervals_[worker].push_back({0, static_cast<int>(worker) % stages});
}

int StageAssignment::stage_of(int worker, int step) const {
  const std::vector<Interval>& intervals = intervals_[as_index(worker)];
  auto interval = intervals.rbegin();
  while (interval->first_step > step) ++interval;
  return interval->stage;
}

std::vector<int> StageAssignment::workers_of(int stage, int step) const {
  std::vector<int> workers;
  for (int worker = 0; worker < static_cast<int>(intervals_.size()); ++worker)
    if (stage_of(worker, step) == stage) workers.push_back(worker);
  return workers;
}

bool StageAssignment::is_original(int stage, int step) const {
  if (!has_moves_ || stage < 0) return true;
  for (int worker = 0; worker < static_cast<int>(intervals_.size()); ++worker)
    if ((stage_of(worker, step) == stage) != (worker % stages_ == stage)) return false;
  return true;
}

void StageAssignment::move(int worker, int stage, int first_step) {
  if (downloading_ >= 0) throw std::logic_error("two workers change their stages at once");
  intervals_[as_index(worker)].push_back({first_step, stage});
  has_moves_ = true;
  downloading_ = worker;
}

}  // namespace longhaul
