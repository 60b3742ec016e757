// The trace: what longhaul-sim replays. Who exchanges what with whom, at which step, and what may overlap.
//
// A stream of JSON lines (docs/formats.md): a header with the plan's rules, then only what the rules do not
// say: the groups that were drawn, and the step times that the trainer measured.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/plan/operations.h"

namespace longhaul {

constexpr int kTraceVersion = 2;

struct Trace {
  PlanContext context;
  OperationPlan plan;
  int evaluate_every =
      0;  // steps at which the clocks of the replicas are asked for besides exchanges; 0: none
  // Groups of rules that do not take everyone, by (index of the rule, post step).
  std::map<std::pair<int, int>, std::vector<std::vector<int>>> groups;
  // Of rules whose replicas send to targets: those of each replica, likewise.
  std::map<std::pair<int, int>, std::vector<std::vector<int>>> targets;
  // Of learned bits (PipelinePlan::by_bits): what the training used, [step − 1][replica][hop]; empty before
  // it.
  std::vector<std::vector<std::vector<int>>> bits;
  std::vector<std::vector<double>> measured_s;  // [step - 1][replica]; empty: the case's step_time decides

  // Of one micro-batch of a replica that stays there: what passes from part `hop` to the next one, and back.
  std::int64_t hop_bytes(int step, int replica, int hop, bool is_forward) const;
  // What the workers of a replica send each other in a step.
  std::int64_t stage_bytes(int step, int replica) const;

  // The operations posted at `step`, as operations_at, with the groups and targets written in the trace. They
  // point into `plan`.
  std::vector<Operation> operations_at(int step) const;
};

// A trace of the plan with all its groups and targets drawn.
Trace make_trace(OperationPlan plan, const PlanContext& context);

void write_trace(const Trace& trace, std::ostream& out);

// Throws InputError with the line number for a line that is no trace, and where groups or targets of an
// operation are missing; `file` only names it.
Trace read_trace(std::istream& in, const std::string& file);

}  // namespace longhaul
