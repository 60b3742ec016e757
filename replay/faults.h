// Faults of a scenario (core/scenario/fault.h) on the clock of a replay: how long the compute of a replica
// takes that is slow for a while, and the table of what struck whom. Those of links are the network's
// (net/variation/variation.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/scenario/case.h"
#include "net/topology.h"

namespace longhaul {

class SlowReplicas {
 public:
  SlowReplicas(const std::vector<Fault>& faults, std::uint64_t seed, int workers);

  // How long compute takes that would take `seconds` and begins `begin_s` after training did: where several
  // faults are on, their factors multiply.
  double stretched_s(int worker, double begin_s, double seconds) const;

 private:
  struct Slow {
    FaultWindows windows;
    double factor = 1;
  };

  std::vector<std::vector<Slow>> faults_;  // by worker; empty: none of all
};

// When a fault strikes which workers, ascending; nothing for one of links. Throws InputError of its file.
std::map<int, FaultWindows> windows_by_worker(const Fault& fault, const Case& config);

// One time in which one fault struck one subject, up to the end of the replay.
struct FaultRow {
  int fault = 0;  // number in the scenario's list
  std::string kind, subject;
  double begin_s = 0, end_s = 0;
};

// All that began before `until_s`, by fault, subject and time.
std::vector<FaultRow> faults_until(const Case& config, const Topology& topology, double until_s);

}  // namespace longhaul
