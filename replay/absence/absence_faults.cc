#include "replay/absence/absence_faults.h"

#include <algorithm>
#include <utility>

#include "core/base/index.h"
#include "replay/work/struck_workers.h"

namespace longhaul {

AbsenceFaults::AbsenceFaults(const Case& config) : faults_(as_index(config.replicas)) {
  for (const Fault& fault : config.faults) {
    if (!fault.absence) continue;
    // A file names replicas; and a replica that lacks one of its workers is gone with all of them.
    const int of_a_replica = fault.file.empty() ? config.pipeline.stages : 1;
    for (const auto& [worker, windows] : windows_by_worker(fault, config))
      faults_[as_index(worker / of_a_replica)].push_back(windows);
  }
}

void AbsenceFaults::start(Clock& clock, Change on_change) {
  clock_ = &clock;
  on_change_ = std::move(on_change);
  origin_ns_ = clock.now_ns();
  for (std::size_t replica = 0; replica < faults_.size(); ++replica)
    if (!faults_[replica].empty()) follow(static_cast<int>(replica), -1);
}

bool AbsenceFaults::is_struck(int replica, std::int64_t time_ns) const {
  const std::vector<FaultWindows>& faults = faults_[as_index(replica)];
  return std::any_of(faults.begin(), faults.end(),
                     [time_ns](const FaultWindows& windows) { return windows.is_on(time_ns); });
}

// The next change after `since_ns`, and on from there.
void AbsenceFaults::follow(int replica, std::int64_t since_ns) {
  std::int64_t next_ns = FaultWindows::kNever;
  if (since_ns < 0 && is_struck(replica, 0)) next_ns = 0;
  for (const FaultWindows& windows : faults_[as_index(replica)])
    next_ns = std::min(next_ns, windows.next_change_ns(std::max<std::int64_t>(0, since_ns)));
  if (next_ns == FaultWindows::kNever) return;
  clock_->after_ns(origin_ns_ + next_ns - clock_->now_ns(), [this, replica, next_ns] {
    on_change_(replica, is_struck(replica, next_ns));
    follow(replica, next_ns);
  });
}

}  // namespace longhaul
