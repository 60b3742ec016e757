#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>

#include "checks/validated_scenario.h"
#include "cli/commands.h"
#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/index.h"
#include "core/base/model_presets.h"
#include "core/base/option_docs.h"
#include "core/base/options.h"
#include "core/base/units.h"
#include "core/plan/combinations.h"
#include "methods/common/python_step.h"
#include "methods/common/registry.h"
#include "net/collectives/collective.h"
#include "net/library.h"
#include "net/topologies/matrix.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

void list_methods() {
  for (const Method& method : methods()) {
    std::printf("%s: %s\n", method.name.c_str(), method.about.c_str());
    for (const Node& option : method.options)
      std::printf("    %-16s %s; %s, default %s\n", option.key.c_str(), option.meaning.c_str(),
                  allowed(option).c_str(), option.fallback.dump().c_str());
    if (!method.optimizer.empty())
      std::printf("    %-16s keys of train.optimizer, default %s\n", "optimizer",
                  method.optimizer.dump().c_str());
  }
  const Node python = python_method_option();
  std::printf("%s: %s\n    %-16s %s\n", python.key.c_str(), python.meaning.c_str(), "file",
              python.child("file")->meaning.c_str());
}

// But for what only estimates have.
void list_collectives() {
  for (const auto& collective : collectives())
    if (collective->purpose() != Collective::Purpose::kEstimate)
      std::printf("%-21s %s\n", collective->name().c_str(), collective->about().c_str());
}

void list_libraries() {
  for (const Library& library : libraries())
    std::printf("%-10s %s (%s)\n", library.name.c_str(), library.about.c_str(), library.version.c_str());
}

// A network option and those inside it, indented.
void list_option(const Node& option, int depth) {
  const bool is_section = option.kind == NodeKind::kSection;
  std::string text = std::string(as_index(4 * depth), ' ') + option.key;
  text.resize(std::max<std::size_t>(text.size() + 1, 22), ' ');
  text += option.meaning;
  if (!is_section) text += "; " + allowed(option);
  if (!option.fallback.is_null()) text += ", default " + option.fallback.dump();
  if (option.is_required && !is_section) text += ", required";
  std::printf("%s\n", text.c_str());
  if (is_section)
    for (const Node& child : option.children) list_option(child, depth + 1);
}

// "round trips of 10 ms to 280 ms, 26 Mb/s to 2 Gb/s by one connection".
std::string ranges_of(const Matrix& matrix) {
  std::vector<double> round_trips, rates;
  for (const std::string& text : matrix.sites())
    for (const std::string& other : matrix.sites()) {
      if (text == other) continue;
      round_trips.push_back(matrix.between(text, other).rtt);
      rates.push_back(matrix.between(text, other).throughput);
    }
  const auto [nearest, farthest] = std::minmax_element(round_trips.begin(), round_trips.end());
  const auto [slowest, fastest] = std::minmax_element(rates.begin(), rates.end());
  return "round trips of " + human_duration(*nearest) + " to " + human_duration(*farthest) + ", " +
         human_rate(*slowest) + " to " + human_rate(*fastest) + " by one connection";
}

void list_networks() {
  const Node& network = *scenario_declaration().child("network");
  std::printf("network.topology is one of:\n\n");
  for (const Node& topology : network.child("topology")->children) {
    std::printf("%s: %s\n", topology.key.c_str(), topology.meaning.c_str());
    for (const Node& option : topology.children) list_option(option, 1);
  }
  const Node& overrides = *network.child("overrides");
  std::printf("\nnetwork.overrides: %s\n", overrides.meaning.c_str());
  for (const Node& option : overrides.children[0].children) list_option(option, 1);
  std::printf("\nmatrices of regions:\n\n");
  for (const std::string& name : built_in_matrices()) {
    const Matrix matrix = load_matrix(name, "");
    std::printf("%s: %s\n    source: %s\n    sites: %s\n    between sites: %s\n", name.c_str(),
                matrix.about().c_str(), matrix.source().c_str(), join(matrix.sites()).c_str(),
                ranges_of(matrix).c_str());
  }
}

void list_combinations() {
  std::printf("what cannot be had together:\n\n");
  for (const RefusedCombination& row : refused_combinations())
    std::printf("%s with %s\n    %s\n", row.feature, row.with, row.why);
}

void list_models() {
  for (const ModelPreset& preset : model_presets()) {
    const ModelShape& shape = preset.shape;
    std::printf(
        "%-16s %s\n                 hidden %d, layers %d, heads %d, ffn %d, context %d, vocabulary %d: %lld "
        "parameters%s, %s in bf16\n",
        preset.name.c_str(), preset.about.c_str(), shape.hidden, shape.layers, shape.heads, shape.ffn,
        shape.context, shape.vocabulary, static_cast<long long>(shape.parameters()),
        shape.experts.count > 0 ? fmt::format(" ({} compute a token)",
                                              human_count(static_cast<double>(shape.active_parameters())))
                                      .c_str()
                                : "",
        human_bytes(2. * static_cast<double>(shape.parameters())).c_str());
  }
}

void list_scenarios() {
  for (const ScenarioInfo& scenario : scenarios_in(needed_scenario_folder()))
    std::printf("%s\n    %s\n", scenario.file.c_str(),
                scenario.about.empty() ? "(no description)" : scenario.about.c_str());
}

void add_scenario(const fs::path& file, std::vector<ScenarioInfo>& found) {
  try {
    const Json json = parse_json(read_file(file.string()).value_or(""), JsonComments::kAllowed);
    const Json about = member(json, "description");
    if (member(json, "methods").is_array())
      found.push_back({file.string(), first_sentence(about.is_string() ? about.get<std::string>() : "")});
  } catch (const InputError&) {
    found.push_back({file.string(), "(is not JSON)"});
  }
}

Json schema() {
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "Longhaul scenario"}};
  schema.update(json_schema(scenario_declaration()));
  return schema;
}

}  // namespace

const std::vector<std::string>& list_topics() {
  static const std::vector<std::string> topics = {"methods",      "collectives", "libraries",
                                                  "networks",     "models",      "options",
                                                  "combinations", "scenarios",   "schema"};
  return topics;
}

int list_command(const std::string& topic, const std::string& section) {
  if (!section.empty() && topic != "options")
    throw InputError("SECTION", "found \"" + section + "\" with " + topic,
                     "nothing, or list options " + section);
  if (topic == "methods") list_methods();
  if (topic == "collectives") list_collectives();
  if (topic == "libraries") list_libraries();
  if (topic == "networks") list_networks();
  if (topic == "models") list_models();
  if (topic == "options")
    std::printf("%s", help_text(option_at(scenario_declaration(), section), section).c_str());
  if (topic == "combinations") list_combinations();
  if (topic == "scenarios") list_scenarios();
  if (topic == "schema") std::printf("%s\n", with_definitions(schema()).dump(2).c_str());
  return kDone;
}

std::string first_sentence(const std::string& text) {
  for (std::size_t i = 0; i + 2 < text.size(); ++i)
    if (std::string(".?!").find(text[i]) != std::string::npos && text[i + 1] == ' ' &&
        std::isupper(static_cast<unsigned char>(text[i + 2])))
      return text.substr(0, i + 1);
  return text;
}

std::vector<ScenarioInfo> scenarios_in(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    const bool same_folder = a.parent_path() == b.parent_path();
    return same_folder ? a < b : a.parent_path() < b.parent_path();
  });
  std::vector<ScenarioInfo> found;
  for (const fs::path& file : files) add_scenario(file, found);
  return found;
}

std::string scenario_folder() {
  if (fs::is_directory("scenarios")) return "scenarios";
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return "";
  const fs::path above = program.parent_path().parent_path();
  for (const fs::path& folder :
       {above.parent_path() / "scenarios", above / "share" / "longhaul" / "scenarios"})
    if (fs::is_directory(folder)) return folder.string();
  return "";
}

std::string needed_scenario_folder() {
  const std::string folder = scenario_folder();
  if (folder.empty())
    throw InputError("", "there is no folder scenarios here",
                     "the folder of the source tree, or an installed longhaul", "go there and try again");
  return folder;
}

}  // namespace longhaul
