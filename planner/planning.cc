#include "planner/planning.h"

#include <fmt/core.h>

#include <filesystem>

#include "analysis/run_files.h"
#include "analysis/text.h"
#include "core/base/child_main.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "planner/candidates.h"
#include "planner/connection_gain.h"
#include "planner/faulty_times.h"
#include "planner/fit_range.h"
#include "planner/launch_sheet.h"
#include "planner/plan_data.h"
#include "planner/sensitivity.h"
#include "planner/site_shares.h"
#include "planner/token_needs.h"
#include "planner/verification.h"

namespace longhaul {
namespace {

// What is asked about the choice.
void look_closer(const PlanRequest& plan, const PlannedNetwork& network, const PlanTools& tools,
                 const std::string& folder, PlanResult& result) {
  result.verification = verified(plan, network, result.search, tools);
  result.sensitivity = sensitivity_of(result.choice(), tools);
  result.search.evaluations.front().fit_half_width_s = fit_half_width_s(plan, result.choice(), tools);
  result.by_gain = times_by_gain(plan, result.choice(), tools);
  result.sites = site_shares(plan, result.search, result.needs, tools, folder);
  result.by_speed = with_batches_by_speed(plan, network, result.search, result.needs, tools);
  result.faulty = faulty_times(plan, result.search, tools, result.search.notes);
}

void note_cut(SearchResult& search) {
  search.notes.insert(
      search.notes.begin(),
      search.is_cut
          ? fmt::format("Interrupted: this is the best of what was replayed until then. {} that may "
                        "be better {} not",
                        counted(as_index(search.still_open), "candidate"),
                        search.still_open == 1 ? "was" : "were")
          : "Interrupted: the search was over, but what changes the choice was not looked at to "
            "the end");
}

}  // namespace

PlanResult make_plan(const PlanRequest& plan, const PlannedNetwork& network, const PlanTools& tools,
                     const std::string& folder) {
  PlanResult result;
  result.needs = token_needs(plan, candidate_methods(plan));
  result.search = search_plan(plan, network, result.needs, tools);
  result.is_cut = result.search.is_cut;
  try {
    if (!result.is_cut) look_closer(plan, network, tools, folder, result);
  } catch (const Interrupted&) {
    result.is_cut = true;
  }
  if (result.is_cut) note_cut(result.search);
  return result;
}

std::map<std::string, std::string> plan_files(const PlanRequest& plan, const PlanResult& result,
                                              const std::string& planner_page) {
  const Json data = plan_data(plan, result);
  return {{"plan.json", data.dump(2) + "\n"},
          {"scenario.json", chosen_scenario(plan, result).dump(2) + "\n"},
          {"plan.html", plan_page(data, planner_page)},
          {"launch.sh", launch_script(plan, result.choice())}};
}

Case checked_candidate(const Json& scenario, const std::string& folder,
                       const std::function<Case(const std::string& file)>& validated) {
  const std::string file = folder + "/candidate.json";
  write_file(file, scenario.dump(2) + "\n");
  try {
    Case config = validated(file);
    std::filesystem::remove(file);
    return config;
  } catch (const InputError& error) {
    std::filesystem::remove(file);
    InputErrorParts parts = error.parts();
    if (parts.file == file) parts.file.clear();
    throw InputError(parts);
  }
}

}  // namespace longhaul
