// Schedules of a plan with one rule that times decide, one that they do not, and one of merges.
#include <sstream>

#include "core/plan/schedule.h"
#include "tests/fuzz/fuzz.h"

using namespace longhaul;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const OperationPlan plan = [] {
    OperationPlan made;
    made.rules.resize(3);
    made.rules[0].name = "plain";
    made.rules[1].name = "outer";
    made.rules[1].completion = {2, 0.5};
    made.rules[2].name = "fragment-0";
    made.rules[2].kind = OperationKind::kMerge;
    made.rules[2].every = 2;
    made.rules[2].overlap_steps = 1;
    return made;
  }();
  const PlanContext context{1, 4, 8, 100, {}};
  return allow_errors([&] {
    std::istringstream in(text_of_input(data, size));
    const Schedule schedule = read_schedule(in, "schedule.jsonl", plan, context);
    for (int step = 1; step <= context.steps; ++step)
      for (const Operation& operation : followed(schedule, plan, operations_at(plan, context, step)))
        groups_of(operation, context.replicas);
  });
}
