// Faults as the kinds of core/scenario/faults/ read them.
#pragma once

#include "core/scenario/fault.h"

namespace longhaul {

inline Fault absence_fault(int number, std::pair<int, int> replicas, const FaultTimes& times) {
  Fault fault;
  fault.number = number;
  fault.kind = "crash";
  fault.replicas = replicas;
  fault.absence = true;
  fault.times = times;
  return fault;
}

inline Fault slow_fault(int number, std::pair<int, int> replicas, double compute, const FaultTimes& times) {
  Fault fault = absence_fault(number, replicas, times);
  fault.kind = "slow";
  fault.absence = false;
  fault.compute = compute;
  return fault;
}

}  // namespace longhaul
