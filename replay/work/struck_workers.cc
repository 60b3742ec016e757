#include "replay/work/struck_workers.h"

#include <fmt/core.h>

#include "replay/work/absence_trace.h"

namespace longhaul {

std::string worker_subject(int worker) {
  return fmt::format("replica {}", worker);
}

std::map<int, FaultWindows> windows_by_worker(const Fault& fault, const Case& config) {
  std::map<int, FaultWindows> windows;
  if (!fault.file.empty())
    for (auto& [replica, absences] : read_absence_trace(fault, config.replicas))
      windows.emplace(replica, FaultWindows(absences));
  for (int worker = fault.replicas.first; worker <= fault.replicas.second; ++worker)
    windows.emplace(worker, FaultWindows(fault.times, config.seed, fault.number, worker_subject(worker)));
  return windows;
}

}  // namespace longhaul
