#include "replay/output/fault_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "net/variation/struck_links.h"
#include "replay/work/struck_workers.h"

namespace longhaul {

std::vector<FaultRow> faults_until(const Case& config, const Topology& topology, double until_s) {
  const std::int64_t until_ns = std::llround(until_s * 1e9);
  std::vector<FaultRow> rows;
  const auto add = [&](const Fault& fault, const std::string& subject, const FaultWindows& windows) {
    for (const FaultWindows::Window& one_time : windows.until(until_ns))
      rows.push_back({fault.number, fault.kind, subject, static_cast<double>(one_time.begin_ns) / 1e9,
                      static_cast<double>(std::min(one_time.end_ns, until_ns)) / 1e9});
  };
  for (const Fault& fault : config.faults) {
    for (const auto& [worker, windows] : windows_by_worker(fault, config))
      add(fault, worker_subject(worker), windows);
    if (!fault.is_of_links()) continue;
    for (const StruckLinks& struck : struck_by(fault, topology))
      add(fault, struck.subject, {fault.times, config.seed, fault.number, struck.subject});
  }
  return rows;
}

}  // namespace longhaul
