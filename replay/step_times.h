// How long each replica computes for each inner step.
#pragma once

#include <cstdint>
#include <vector>

#include "core/case.h"
#include "core/plan/trace.h"

namespace longhaul {

class StepTimes {
 public:
  // `trace` must outlive it; throws InputError if it lacks the measured times that the case asks for.
  StepTimes(const Case& one, const Trace& trace);

  double seconds(int replica, int step) const;  // steps count from 1

 private:
  double drawn_s(int replica, int step) const;

  StepTime rule_;
  std::vector<double> factors_;  // by replica; empty: all 1
  const Trace& trace_;
};

}  // namespace longhaul
