#include "cli/chosen_cases.h"

#include <fmt/core.h>

#include <cstdio>

#include "analysis/text.h"
#include "checks/validated_scenario.h"
#include "cli/commands.h"
#include "cli/machine.h"
#include "cli/run_outputs.h"
#include "core/base/errors.h"
#include "core/base/ranges.h"

namespace longhaul {

WorkPlan chosen_cases(const RunOptions& options, const Scenario& scenario) {
  const WorkPlan whole = plan_work(scenario);
  if (options.shard != kWholeShard) return part_of(whole, cases_of_shard(whole, options.shard));
  if (options.only_cases.empty()) return whole;
  if (options.only == "report")
    throw InputError("--only-case", "found beside --only report", "one of them",
                     "--only report --resume makes the report of all cases");
  const std::vector<std::string> names = each_of(whole.cases, &Case::name);
  for (const std::string& name : options.only_cases)
    if (!contains(names, name))
      throw InputError(
          "--only-case", fmt::format("found \"{}\"", name),
          fmt::format("{} (longhaul run {} --list-cases lists them)", join_some(names, 5), options.scenario),
          did_you_mean(name, names));
  return part_of(whole, {options.only_cases.begin(), options.only_cases.end()});
}

int list_cases(const Scenario& scenario, const WorkPlan& plan) {
  for (const Case* config : plan.cases) {
    const WorkEstimate work =
        estimate_work(part_of(plan, {config->name}), 1, cores_here(), keeps_tables(scenario));
    std::printf("%s\t%.2f\t%.0f\n", config->name.c_str(), work.training_s + work.replay_s, work.memory_bytes);
  }
  return kDone;
}

}  // namespace longhaul
