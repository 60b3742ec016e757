// The table of what struck whom, faults.csv.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/case.h"
#include "net/topology.h"

namespace longhaul {

// One time in which one fault struck one subject, up to the end of the replay.
struct FaultRow {
  int fault = 0;  // number in the scenario's list
  std::string kind, subject;
  double begin_s = 0, end_s = 0;
};

// All that began before `until_s`, by fault, subject and time.
std::vector<FaultRow> faults_until(const Case& config, const Topology& topology, double until_s);

}  // namespace longhaul
