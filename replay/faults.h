// Faults of a scenario (core/scenario/faults.h) on the clock of a replay: how long the compute of a replica
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
  SlowReplicas(const std::vector<SlowFault>& faults, std::uint64_t seed, int workers);

  // How long compute takes that would take `seconds` and begins `begin_s` after training did: where several
  // faults are on, their factors multiply.
  double stretched_s(int worker, double begin_s, double seconds) const;

 private:
  struct Fault {
    FaultWindows windows;
    double factor = 1;
  };

  std::vector<std::vector<Fault>> faults_;  // by worker; empty: none of all
};

std::string kind_of(const CrashFault& fault);  // in a scenario

// When the replicas of a case are gone by one fault, ascending. Throws InputError of its file.
std::map<int, FaultWindows> absence_windows(const CrashFault& fault, const Case& config);

// One time in which one fault struck one subject, up to the end of the replay.
struct FaultRow {
  int fault = 0;  // number in the scenario's list
  std::string kind, subject;
  double begin_s = 0, end_s = 0;
};

// All that began before `until_s`, by fault, subject and time.
std::vector<FaultRow> faults_until(const Case& config, const Topology& topology, double until_s);

}  // namespace longhaul
