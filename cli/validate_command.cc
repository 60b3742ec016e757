#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "analysis/claims/validation.h"
#include "analysis/run_files.h"
#include "analysis/runs/run_directory.h"
#include "analysis/text.h"
#include "checks/validated_scenario.h"
#include "cli/commands.h"
#include "cli/output_place.h"
#include "cli/scratch_folder.h"
#include "core/base/errors.h"
#include "core/base/ranges.h"
#include "fitting/fit_files.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Scenario scenario_with_figures(const std::string& file) {
  Scenario scenario = validated_scenario(file, {});
  if (!scenario.resolved.contains("validation"))
    throw InputError({file, "validation", "found none", "the section with the published figures",
                      "longhaul list options has its keys"});
  for (const Case& config : scenario.cases)
    if (config.train)
      throw InputError(
          {file, "train", "found in a validation", "a scenario that simulates only the network", ""});
  return scenario;
}

RunOptions run_options(const ValidateOptions& options, const Scenario& scenario, const std::string& folder) {
  RunOptions run;
  run.scenario = scenario.file;
  run.out = folder;
  run.jobs = options.jobs;
  run.quiet = run.silent = true;
  run.command = options.command;
  return run;
}

// With the range of its predictions under other assumptions, where there are any.
FitResidual residual_of(const Validation& validation, const FigureVerdict& figure) {
  FitResidual one;
  one.what = validation.name + ": " + text_of(figure.figure, "what");
  one.is_time = figure.figure.value("unit", "s") == "s";
  one.count = 1;
  one.observed = figure.figure.at("value");
  one.predicted = figure.prediction.value;
  one.is_fitted = false;
  if (figure.others.empty()) return one;
  one.low = one.high = one.predicted;
  for (const Prediction& other : figure.others)
    if (std::isfinite(other.value)) {
      one.low = std::min(one.low, other.value);
      one.high = std::max(one.high, other.value);
    }
  return one;
}

// Every figure that was predicted, as a picture and a table: those that were measured first.
std::string residual_page(const std::string& name, const std::vector<Validation>& validations) {
  FitResult all;
  std::size_t measured = 0;
  for (const bool is_measured : {true, false})
    for (const Validation& validation : validations)
      for (const FigureVerdict& figure : validation.figures) {
        if ((validation.about.value("kind", "measurement") == "measurement") != is_measured) continue;
        const FitResidual one = residual_of(validation, figure);
        if (!std::isfinite(one.predicted)) continue;
        all.residuals.push_back(one);
        measured += is_measured;
      }
  if (measured > 0 && measured < all.residuals.size())
    all.words.push_back(
        fmt::format("Rows from {} on are figures that publications computed; those before "
                    "were measured.",
                    measured + 1));
  all.words.emplace_back("From, to and bars: the same figure under the other assumptions of its scenario.");
  all.observations = all.things = all.residuals.size();
  return fit_page(fit_data({name, join(each_of(validations, &Validation::name)), "section validation"}, all));
}

}  // namespace

std::vector<std::string> validation_files(const std::string& folder, const std::vector<std::string>& names) {
  std::vector<std::string> known, files;
  if (!folder.empty()) known = names_in(folder);
  if (names.empty() && known.empty())
    throw InputError("", "there is no folder scenarios/validation here", "the folder of the source tree",
                     "go there, or name files");
  for (const std::string& name : names.empty() ? known : names) {
    if (fs::is_directory(name)) {
      const std::vector<std::string> inside = names_in(name);
      if (inside.empty())
        throw InputError("NAME", "found no scenario in the folder " + name,
                         "a folder with files that end with .json");
      for (const std::string& one : inside) files.push_back((fs::path(name) / (one + ".json")).string());
      continue;
    }
    const bool is_file = name.find('/') != std::string::npos || fs::path(name).extension() == ".json";
    if (!is_file && !contains(known, name))
      throw InputError("NAME", "found \"" + name + "\"", join(known) + ", or a file (with .json)",
                       did_you_mean(name, known));
    files.push_back(is_file ? name : folder + "/" + name + ".json");
  }
  return files;
}

int validate_command(const ValidateOptions& options) {
  const std::string scenarios = scenario_folder();
  const std::string shipped = scenarios.empty() ? "" : scenarios + "/validation";
  std::vector<Scenario> all;
  // Every file is checked before the first is replayed.
  for (const std::string& file : validation_files(fs::is_directory(shipped) ? shipped : "", options.names))
    all.push_back(scenario_with_figures(file));
  if (!options.page.empty()) check_output_file("--page", options.page);
  std::optional<ScratchFolder> scratch;
  const std::string runs = options.out.empty() ? scratch.emplace("validate").path : options.out;
  for (const Scenario& scenario : all) check_holds_no_run("--out", runs + "/" + scenario.name);
  std::vector<Validation> validations;
  int status = kDone;
  for (const Scenario& scenario : all) {
    const std::string folder = runs + "/" + scenario.name;
    const int ended = run_command(run_options(options, scenario, folder));
    if (ended == kInterrupted) return ended;
    status = std::max(status, ended);
    const Json summary = read_summary(folder);
    validations.push_back(judge_validation(scenario.name, scenario.resolved["validation"],
                                           summary.at("cases").get<std::vector<Json>>()));
  }
  if (!options.page.empty()) {
    write_file(options.page, residual_page("validation", validations));
    std::fprintf(stderr, "page: %s\n", options.page.c_str());
  }
  const std::string markdown = validation_markdown(validations);
  std::fputs((options.format == "markdown" ? markdown : terminal_text(markdown, kTextWidth)).c_str(), stdout);
  return status;
}

}  // namespace longhaul
