// Traces: what is read can be walked step by step, by plan and programs, and is written as it was read.
#include <algorithm>

#include "core/plan/program.h"
#include "core/plan/trace.h"
#include "tests/fuzz/fuzz.h"

void longhaul::read_input(const std::string& input) {
  std::istringstream in(input);
  const Trace trace = read_trace(in, "trace.jsonl");
  std::stringstream out, twice;
  write_trace(trace, out);
  write_trace(read_trace(out, "written.jsonl"), twice);
  if (twice.str() != out.str()) abort();
  if (trace.context.replicas > 64 || trace.context.parameters > 1'000'000 || trace.plan.rules.size() > 16)
    return;
  for (int step = 1; step <= std::min(12, trace.context.steps); ++step) {
    for (const Operation& operation : trace.operations_at(step)) {
      groups_of(operation, trace.context.replicas);
      for (const std::int64_t bytes : bytes_of_operations(operation))
        if (bytes < 0) abort();
    }
    for (int replica = 0; replica < trace.context.replicas; ++replica)
      if (trace.plan.dynamic_steps.taken_until(replica, step) > step) abort();
    operations_due(trace.plan, trace.context, step);
    program_of_step(trace.plan, trace.context.steps, step);
  }
}
