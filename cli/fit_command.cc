#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>

#include "analysis/run_files.h"
#include "checks/unknown.h"
#include "checks/validated_scenario.h"
#include "cli/commands.h"
#include "cli/live_display.h"
#include "cli/output_place.h"
#include "cli/replayed_record.h"
#include "cli/scratch_folder.h"
#include "core/base/child_main.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/printable.h"
#include "fitting/fit.h"
#include "fitting/fit_files.h"
#include "methods/common/registry.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

std::string usual_folder(const std::string& name) {
  const std::string first = "results/" + name + "-fit";
  std::string folder = first;
  for (int i = 2; fs::exists(folder); ++i) folder = fmt::format("{}-{}", first, i);
  return folder;
}

std::string checked_folder(const std::string& out, const std::string& name) {
  const std::string folder = out.empty() ? usual_folder(name) : out;
  std::error_code error;
  const fs::file_status found = fs::status(folder, error);
  if (error && found.type() != fs::file_type::not_found)
    throw InputError("--output", folder + ": " + error.message(), "a new or an empty folder");
  if (fs::exists(found) && !(fs::is_directory(found) && fs::is_empty(folder)))
    throw InputError("--output", folder + " exists and is not empty", "a new or an empty folder");
  return folder;
}

// Made before minutes of replays, so that a place where that cannot be is said first; it goes where nothing
// is written into it.
class NewFolder {
 public:
  explicit NewFolder(const std::string& folder) : folder_(folder) { made_folder("--output", folder); }
  ~NewFolder() {
    std::error_code ignored;
    if (fs::is_empty(folder_, ignored)) fs::remove(folder_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

 private:
  const std::string folder_;
};

// Replays on threads, and the records of cases with their tables in a folder that goes.
class Replays {
 public:
  Replays(int jobs, bool quiet)
      : threads_(jobs > 0 ? as_index(jobs) : std::max<std::size_t>(1, std::thread::hardware_concurrency())),
        display_(quiet),
        scratch_("fit") {}

  FitTools tools(const std::string& file) {
    return {[file](const Json& scenario) { return validated_as_written(scenario, file).cases; },
            [this](const std::vector<std::function<void()>>& tasks, const std::string& phase) {
              run_all(tasks, phase);
            },
            [this](const Case& config) { return record(config); }};
  }

 private:
  void run_all(const std::vector<std::function<void()>>& tasks, const std::string& phase) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex mutex;
    const auto work = [&] {
      for (std::size_t i = next++; i < tasks.size(); i = next++) {
        try {
          check_interrupt();
          tasks[i]();
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!failure) failure = std::current_exception();
          next = tasks.size();
        }
      }
    };
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < std::min(threads_, tasks.size()); ++i) others.emplace_back(work);
    work();
    for (std::thread& other : others) other.join();
    done_ += tasks.size();
    if (failure) std::rethrow_exception(failure);
    say_so_far(phase);
  }

  // How many more a minimum needs nobody knows: no share of the work, and no end, is said.
  void say_so_far(const std::string& phase) {
    constexpr std::chrono::seconds kEvery{10};
    const auto now = std::chrono::steady_clock::now();
    if (now < said_ + kEvery) return;
    said_ = now;
    display_.line(fmt::format("{}: {} replays so far", phase, done_));
  }

  Json record(const Case& config) {
    return replayed_record(config, trace_of(config), fmt::format("{}/{}", scratch_.path, number_++));
  }

  const std::size_t threads_;
  LiveDisplay display_;
  const ScratchFolder scratch_;
  std::atomic<std::size_t> number_{0};
  std::size_t done_ = 0;
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

// What the scenario says of it: which library carried the exchanges.
void warn_of_libraries(const Json& scenario, const std::vector<Unknown>& unknowns,
                       const Observations& observations) {
  const std::string path = "network.library";
  for (const Unknown& unknown : unknowns)
    if (unknown.path() == path) return;
  const Json named = member(member(scenario, "network"), "library");
  const std::string library = named.is_string() ? named.get<std::string>() : "plain";
  for (const std::string& observed : observations.libraries)
    if (observed != library)
      warn({fmt::format(
          "the observed exchanges went over {}, the scenario's go over {}: \"{}\": \"{}\" says so", observed,
          library, path, observed)});
}

Scenario without_training(const Json& written, const std::string& file) {
  Scenario scenario = validated_as_written(written, file);
  for (const Case& config : scenario.cases)
    if (config.train)
      throw InputError(
          {file, "train", "found beside observed times", "a scenario that simulates only the network", ""});
  return scenario;
}

Observations observations_for(const Json& written, const std::string& scenario, const std::string& observed,
                              const std::vector<int>& fitted) {
  try {
    return observed.empty() ? observations_of_figures(written, fitted) : read_observations(observed);
  } catch (const InputError& error) {
    throw error.parts().file.empty() && error.parts().path.rfind("--", 0) != 0 ? error.in_file(scenario)
                                                                               : error;
  }
}

// An error of a thing that was observed is one of its file; any other one of the scenario's.
template <typename Work>
FitResult worked(const std::string& scenario, const Observations& observations, const Work& work) {
  try {
    return work();
  } catch (const InputError& error) {
    if (!error.parts().file.empty()) throw;
    const std::string& path = error.parts().path;
    throw error.in_file(path.rfind("rows[", 0) == 0 ? observations.file : scenario);
  }
}

}  // namespace

int fit_command(const FitOptions& options) {
  const Json written = read_scenario(options.scenario, options.assignments);
  const Scenario scenario = without_training(written, options.scenario);
  std::vector<Unknown> unknowns;
  try {
    unknowns = unknowns_of(written, scenario_declaration(), options.unknowns);
  } catch (const InputError& error) {
    throw error.parts().path == "--unknown" ? error : error.in_file(options.scenario);
  }
  if (!options.observed.empty() && !options.fitted.empty())
    throw InputError("--on", "found beside a file of observations",
                     "figures of the scenario's section validation alone",
                     "in a file \"fit\": false leaves a row out of the fit");
  const Observations observations =
      observations_for(written, options.scenario, options.observed, options.fitted);
  const std::string folder = checked_folder(options.out, scenario.name);
  warn_of_libraries(written, unknowns, observations);
  const NewFolder made(folder);
  watch_interrupts();
  FitResult result;
  try {
    Replays replays(options.jobs, options.quiet);
    result = worked(options.scenario, observations,
                    [&] { return fit(written, unknowns, observations, replays.tools(options.scenario)); });
  } catch (const Interrupted&) {
    say(stderr, "interrupted\n");
    return kInterrupted;
  }
  const FitSource source{scenario.name, options.scenario, observations.file, observations.content};
  const Json data = fit_data(source, result);
  const std::string from = fs::absolute(fs::path(options.scenario)).parent_path().string();
  write_file(folder + "/fit.json", data.dump(1) + "\n");
  write_file(folder + "/scenario.json",
             fitted_scenario(written, source, result, from, fs::absolute(folder).string()).dump(2) + "\n");
  write_file(folder + "/fit.html", fit_page(data));
  say(stdout, fit_text(result));
  std::printf("scenario: %s/scenario.json (longhaul check, run and verify take it)\npage: %s/fit.html\n",
              folder.c_str(), folder.c_str());
  return kDone;
}

int verify_command(const VerifyOptions& options) {
  const Json written = read_scenario(options.scenario, options.assignments);
  const Scenario scenario = without_training(written, options.scenario);
  const Observations observations = observations_for(written, options.scenario, options.observed, {});
  warn_of_libraries(written, {}, observations);
  if (!options.out.empty()) check_output_file("--output", options.out);
  watch_interrupts();
  FitResult result;
  try {
    Replays replays(options.jobs, options.quiet);
    result = worked(options.scenario, observations,
                    [&] { return verify(written, observations, replays.tools(options.scenario)); });
  } catch (const Interrupted&) {
    say(stderr, "interrupted\n");
    return kInterrupted;
  }
  say(stdout, fit_text(result));
  if (options.out.empty()) return kDone;
  write_file(options.out, fit_page(fit_data({scenario.name, options.scenario, observations.file}, result)));
  std::printf("page: %s\n", options.out.c_str());
  return kDone;
}

}  // namespace longhaul
