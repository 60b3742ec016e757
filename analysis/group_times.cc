#include "analysis/group_times.h"

#include <algorithm>
#include <fstream>

#include "core/errors.h"
#include "core/index.h"

namespace longhaul {

GroupTimes::GroupTimes(const std::string& case_folder, int replicas) : sync_s_(as_index(replicas), -1) {
  std::ifstream in(case_folder + "/trace.jsonl");
  if (!in) return;
  try {
    trace_ = read_trace(in, case_folder + "/trace.jsonl");
  } catch (const InputError& error) {
    throw RunError(error.what());  // longhaul wrote it: no user did this
  }
}

void GroupTimes::add(std::int64_t step, const std::string& rule, std::int64_t replica, double sync_s) {
  if (step != step_ || rule != rule_) finish_exchange();
  step_ = step;
  rule_ = rule;
  sync_s_.at(as_index(replica)) = sync_s;
}

const std::vector<std::vector<int>>* GroupTimes::groups() const {
  for (std::size_t i = 0; i < trace_.plan.rules.size(); ++i)
    if (trace_.plan.rules[i].name == rule_) {
      const auto found = trace_.groups.find({static_cast<int>(i), static_cast<int>(step_)});
      if (found != trace_.groups.end()) return &found->second;
    }
  return nullptr;
}

void GroupTimes::finish_exchange() {
  if (step_ < 0) return;
  const auto count = [this](double last_s) {
    if (last_s < 0) return;
    total_s_ += last_s;
    ++count_;
  };
  if (const auto* groups = this->groups()) {
    for (const std::vector<int>& group : *groups) {
      double last_s = -1;
      for (const int replica : group) last_s = std::max(last_s, sync_s_.at(as_index(replica)));
      count(last_s);
    }
  } else {
    count(*std::max_element(sync_s_.begin(), sync_s_.end()));
  }
  std::fill(sync_s_.begin(), sync_s_.end(), -1);
}

double GroupTimes::mean_of_last() {
  finish_exchange();
  step_ = -1;
  return count_ > 0 ? total_s_ / static_cast<double>(count_) : 0;
}

}  // namespace longhaul
