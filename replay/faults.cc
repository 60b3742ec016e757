#include "replay/faults.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/base/index.h"
#include "net/variation/struck_links.h"
#include "replay/absence_trace.h"

namespace longhaul {
namespace {

std::string name_of(int worker) {
  return fmt::format("replica {}", worker);
}

}  // namespace

std::map<int, FaultWindows> windows_by_worker(const Fault& fault, const Case& config) {
  std::map<int, FaultWindows> windows;
  if (!fault.file.empty())
    for (auto& [replica, absences] : read_absence_trace(fault, config.replicas))
      windows.emplace(replica, FaultWindows(absences));
  for (int worker = fault.replicas.first; worker <= fault.replicas.second; ++worker)
    windows.emplace(worker, FaultWindows(fault.times, config.seed, fault.number, name_of(worker)));
  return windows;
}

SlowReplicas::SlowReplicas(const std::vector<Fault>& faults, std::uint64_t seed, int workers) {
  for (const Fault& fault : faults) {
    if (fault.compute == 1) continue;
    faults_.resize(as_index(workers));
    for (int worker = fault.replicas.first; worker <= fault.replicas.second; ++worker)
      faults_[as_index(worker)].push_back(
          {FaultWindows(fault.times, seed, fault.number, name_of(worker)), fault.compute});
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
      add(fault, name_of(worker), windows);
    if (!fault.is_of_links()) continue;
    for (const StruckLinks& struck : struck_by(fault, topology))
      add(fault, struck.subject, {fault.times, config.seed, fault.number, struck.subject});
  }
  return rows;
}

}  // namespace longhaul
