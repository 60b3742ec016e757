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

FaultWindows windows_of(const SlowFault& fault, std::uint64_t seed, int worker) {
  return {fault.times, seed, fault.number, name_of(worker)};
}

}  // namespace

std::string kind_of(const CrashFault& fault) {
  return fault.is_orderly() ? "leave" : "crash";
}

std::map<int, FaultWindows> absence_windows(const CrashFault& fault, const Case& config) {
  std::map<int, FaultWindows> windows;
  if (!fault.file.empty()) {
    for (auto& [replica, absences] : read_absence_trace(fault, config.replicas))
      windows.emplace(replica, FaultWindows(absences));
    return windows;
  }
  for (int replica = fault.replicas.first; replica <= fault.replicas.second; ++replica)
    windows.emplace(replica, FaultWindows(fault.times, config.seed, fault.number, name_of(replica)));
  return windows;
}

SlowReplicas::SlowReplicas(const std::vector<SlowFault>& faults, std::uint64_t seed, int workers) {
  if (!faults.empty()) faults_.resize(as_index(workers));
  for (const SlowFault& fault : faults)
    for (int worker = fault.replicas.first; worker <= fault.replicas.second; ++worker)
      faults_[as_index(worker)].push_back({windows_of(fault, seed, worker), fault.factor});
}

double SlowReplicas::stretched_s(int worker, double begin_s, double seconds) const {
  if (faults_.empty() || faults_[as_index(worker)].empty()) return seconds;
  double taken_s = 0;
  for (std::int64_t now_ns = std::llround(begin_s * 1e9);;) {
    double factor = 1;
    std::int64_t next_ns = FaultWindows::kNever;
    for (const Fault& fault : faults_[as_index(worker)]) {
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
  const auto add = [&](int number, const std::string& kind, const std::string& subject,
                       const FaultWindows& windows) {
    for (const FaultWindows::Window& one_time : windows.until(until_ns))
      rows.push_back({number, kind, subject, static_cast<double>(one_time.begin_ns) / 1e9,
                      static_cast<double>(std::min(one_time.end_ns, until_ns)) / 1e9});
  };
  for (const SlowFault& fault : config.slow)
    for (int worker = fault.replicas.first; worker <= fault.replicas.second; ++worker)
      add(fault.number, "slow", name_of(worker), windows_of(fault, config.seed, worker));
  for (const CrashFault& fault : config.crashes)
    for (const auto& [replica, windows] : absence_windows(fault, config))
      add(fault.number, kind_of(fault), name_of(replica), windows);
  for (const LinkFault& fault : config.network.variation.faults)
    for (const StruckLinks& struck : struck_by(fault, topology))
      add(fault.number, fault.site.empty() ? "link" : "site", struck.subject,
          {fault.times, config.seed, fault.number, struck.subject});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const FaultRow& a, const FaultRow& b) { return a.fault < b.fault; });
  return rows;
}

}  // namespace longhaul
