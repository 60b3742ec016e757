#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>

#include "analysis/run_files.h"
#include "analysis/text.h"
#include "cli/commands.h"
#include "cli/validated_scenario.h"
#include "core/base/errors.h"
#include "core/base/option_docs.h"
#include "methods/common/registry.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

std::string header(const std::string& file) {
  return fmt::format(
      "// A scenario of Longhaul, to be changed: every value here has a default or can be another one.\n"
      "//   longhaul check {0}     validates it, lists its cases, estimates the time\n"
      "//   longhaul run {0}       runs it and writes a report\n"
      "//   longhaul list options     all that a scenario can say\n"
      "// To vary something, add for example\n"
      "//   \"sweep\": {{\"replicas\": [4, 8, 16], \"network.tcp.connections\": [1, 8]}}\n",
      file);
}

// Where an editor finds the schema: from the scenario's folder, or absolute where that would lead upwards. ""
// without one.
std::string schema_for(const std::string& file) {
  const std::string scenarios = scenario_folder();
  if (scenarios.empty()) return "";
  const fs::path schema = fs::absolute(fs::path(scenarios) / "scenario.schema.json");
  const fs::path relative = fs::relative(schema, fs::absolute(file).parent_path());
  const bool leads_up = relative.empty() || *relative.begin() == "..";
  return leads_up ? "file://" + schema.lexically_normal().string() : relative.string();
}

Json with_schema(Json scenario, const std::string& schema) {
  Json all = Json::object();
  if (!schema.empty()) all["$schema"] = schema;
  all.update(scenario);
  return all;
}

// Checked under another name, so that a file that is wrong never stands there.
void write_checked(const std::string& file, const std::string& text) {
  const std::string draft = file + ".draft";
  write_file(draft, text);
  try {
    validated_scenario(draft, {});
  } catch (const InputError& error) {
    fs::remove(draft);
    InputErrorParts parts = error.parts();
    parts.file = "";
    parts.hint += (parts.hint.empty() ? "" : "; ") + std::string("choose otherwise, nothing was written");
    throw InputError(parts);
  }
  fs::rename(draft, file);
}

}  // namespace

int new_command(const NewOptions& options) {
  if (fs::exists(options.out))
    throw InputError({options.out, "", "exists already", "the name of a new file (-o)", ""});
  const std::vector<std::string> known = starter_methods();
  for (const std::string& name : options.methods)
    if (!contains(known, name))
      throw InputError("--methods", "found \"" + name + "\"", join(known), did_you_mean(name, known));
  const bool asks = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
  const StarterChoices choices = starter_choices(options, asks ? &std::cin : nullptr, std::cout);
  if (!choices.train && !choices.text.empty())
    throw InputError("--text", "found \"" + join(choices.text) + "\", but nothing is trained",
                     "only with --train");
  const Json scenario = with_schema(starter_scenario(choices), schema_for(options.out));
  write_checked(options.out, header(options.out) + commented_json(scenario_declaration(), scenario));
  std::printf("%s is written and valid; next: longhaul check %s\n", options.out.c_str(), options.out.c_str());
  return kDone;
}

}  // namespace longhaul
