// Faults as the kinds of core/scenario/faults/ read them.
#pragma once

#include "core/scenario/fault.h"

namespace longhaul {

inline Fault absence_fault(int number, std::pair<int, int> replicas, const FaultTimes& times) {
  Fault fault{number, "crash", times, "", replicas, "", ""};
  fault.absence = true;
  return fault;
}

inline Fault slow_fault(int number, std::pair<int, int> replicas, double compute, const FaultTimes& times) {
  return {number, "slow", times, "", replicas, "", "", compute};
}

}  // namespace longhaul
