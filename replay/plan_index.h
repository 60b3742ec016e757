// What a trace asks for at a step, for whoever replays it.
#pragma once

#include <vector>

#include "core/case.h"
#include "core/plan/trace.h"

namespace longhaul {

// Which steps have to do with an exchange, without drawing or copying groups.
class PlanIndex {
 public:
  // `trace` must outlive it.
  explicit PlanIndex(const Trace& trace) : trace_(trace) {}

  bool has_exchange(int step) const;             // posted or awaited there
  bool releases_during_compute(int step) const;  // buckets, before its end

 private:
  const Trace& trace_;
};

// The index of the exchange's rule in the trace's plan.
int rule_index(const Trace& trace, const Operation& exchange);

// Throws InputError where the trace is not one of this case.
void check_fit(const Case& one, const Trace& trace);

}  // namespace longhaul
