// The planner of the page: `planner PLAN FOLDER` reads a plan file and writes into the folder what `longhaul
// plan` writes into its own. Files are those that the page's worker (page/worker.js) has put into memory.
//
// Standard output is for the worker: a JSON line for each part of the work that is done, {"phase", "done",
// "of"}, and one for the best until then, {"so_far"}. Errors are as the command says them. Exit status 0; 2:
// wrong input; 1: anything else. `planner --lists` tells what the form offers.
#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <filesystem>

#include "analysis/run_files.h"
#include "analysis/text.h"
#include "checks/validated_scenario.h"
#include "core/base/child_main.h"
#include "core/base/errors.h"
#include "core/base/options.h"
#include "core/base/units.h"
#include "planner/measurement_files.h"
#include "planner/plan_options.h"
#include "planner/plan_request.h"
#include "planner/planned_network.h"
#include "planner/planning.h"

namespace longhaul {
namespace {

void tell(const Json& message) {
  std::printf("%s\n", message.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

// Where a replay is, of many.
class ToldProgress : public ProgressReporter {
 public:
  ToldProgress(std::string phase, std::size_t before, std::size_t of)
      : ProgressReporter("planner", -1, /*quiet=*/true), phase_(std::move(phase)), before_(before), of_(of) {}

  void progress(double done, double total, const std::string&, const std::string&) override {
    constexpr std::chrono::milliseconds kEvery{100};
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < kEvery || total <= 0) return;
    told_ = now;
    tell({{"phase", phase_}, {"done", static_cast<double>(before_) + done / total}, {"of", of_}});
  }

 private:
  const std::string phase_;
  const std::size_t before_, of_;
  std::chrono::steady_clock::time_point told_{};
};

void replay(std::vector<ReplayTask>& tasks, const std::string& phase) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tell({{"phase", phase}, {"done", i}, {"of", tasks.size()}});
    ToldProgress progress(phase, i, tasks.size());
    replay_here(tasks[i], progress);
  }
}

void plan_into(const std::string& file, const std::string& folder) {
  PlanRequest plan = read_plan(file, scenario_declaration());
  const std::string work = folder + "/work";
  std::filesystem::create_directories(work);
  const PlanTools tools = {
      [&](const Json& scenario) {
        return checked_candidate(scenario, folder, [](const std::string& candidate) {
          return validated_scenario(candidate, {}).cases.at(0);
        });
      },
      replay, work,
      [](const Evaluation& best, const StillOpen& open) {
        tell({{"so_far", fmt::format("{}, {}; {} may still be better", best.candidate.words,
                                     human_duration(best.total_s()), counted(open.count, "candidate"))}});
      }};
  try {
    if (!plan.measurements.empty()) plan.measured = measured_sites(plan, plan.notes);
    const PlannedNetwork network = planned_network(plan, folder);
    for (const auto& [name, text] : network.files) write_file(folder + "/" + name, text);
    for (const auto& [name, text] : plan_files(plan, make_plan(plan, network, tools, folder)))
      write_file(folder + "/" + name, text);
  } catch (const InputError& error) {
    throw error.parts().file.empty() ? error.in_file(plan.file) : error;
  }
  std::filesystem::remove_all(work);
}

// What the form offers: {"lists": {"models": [...], ...}}.
void tell_lists() {
  const Node options = plan_options(scenario_declaration());
  const auto words_of = [&](const char* path) {
    const Node* option = option_on_path(options, path);
    std::vector<std::string> words = option->choices;
    for (const Node& child : option->children)
      words.insert(words.end(), child.choices.begin(), child.choices.end());
    return words;
  };
  tell({{"lists",
         {{"models", words_of("model")},
          {"accelerators", words_of("accelerator.name")},
          {"preferences", words_of("prefer")}}}});
}

int planner_main(int count, char** words) {
  try {
    if (count == 2 && std::string(words[1]) == "--lists") {
      tell_lists();
      return kDone;
    }
    if (count != 3) throw InputError("", "found no plan and folder", "planner PLAN FOLDER");
    plan_into(words[1], words[2]);
    return kDone;
  } catch (const InputError& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return kInputWrong;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return kRunFailed;
  }
}

}  // namespace
}  // namespace longhaul

int main(int count, char** words) {
  return longhaul::planner_main(count, words);
}
