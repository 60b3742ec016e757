#include "replay/work/slow_replicas.h"

#include <algorithm>
#include <cmath>

#include "core/base/index.h"
#include "replay/work/struck_workers.h"

namespace longhaul {

SlowReplicas::SlowReplicas(const std::vector<Fault>& faults, std::uint64_t seed, int workers) {
  for (const Fault& fault : faults) {
    if (fault.compute == 1) continue;
    faults_.resize(as_index(workers));
    for (int worker = fault.replicas.first; worker <= fault.replicas.second; ++worker)
      faults_[as_index(worker)].push_back(
          {FaultWindows(fault.times, seed, fault.number, worker_subject(worker)), fault.compute});
  }
}

double SlowReplicas::stretched_s(int worker, double begin_s, double seconds) const {
  if (faults_.empty() || faults_[as_index(worker)].empty()) return seconds;
  double taken_s = 0;
  for (std::int64_t now_ns = std::llround(begin_s * 1e9);;) {
    double factor = 1;
    std::int64_t next_ns = FaultWindows::kNever;
    for (const Slow& fault : faults_[as_index(worker)]) {
      if (fault.windows.is_on(now_ns)) factor *= fault.factor;
      next_ns = std::min(next_ns, fault.windows.next_change_ns(now_ns));
    }
    const double left_s = seconds * factor;
    const double until_s =
        next_ns == FaultWindows::kNever ? left_s : static_cast<double>(next_ns - now_ns) / 1e9;
    if (left_s <= until_s) return taken_s + left_s;
    taken_s += until_s;
    seconds -= until_s / factor;
    now_ns = next_ns;
  }
}

}  // namespace longhaul
