#include "analysis/comparison/configuration.h"

#include "analysis/run_declarations.h"
#include "analysis/run_files.h"
#include "core/base/errors.h"
#include "core/base/ranges.h"
#include "core/scenario/pipeline.h"
#include "core/scenario/scenario.h"

namespace longhaul {
namespace {

// Names and places, what says it once more, and what changes no number.
bool says_nothing(const std::string& key) {
  static const std::vector<std::string> keys = {
      "seed",  "case",        "scenario",    "swept", "sites", "folder", "train.checkpoint_every",
      "label", "method.name", "method.label"};
  return contains(keys, key);
}

void flatten(const Json& value, const std::string& path, const std::string& label, Configuration& flat) {
  if (says_nothing(path)) return;
  if (value.is_object() && !value.empty()) {
    for (const auto& [key, child] : value.items())
      flatten(child, path.empty() ? key : path + "." + key, label, flat);
    return;
  }
  const std::string option = "method.";
  flat[path.rfind(option, 0) == 0 ? "methods." + label + "." + path.substr(option.size()) : path] = value;
}

void add_record(const Json& record, const std::string& label, Configuration& configuration) {
  for (const char* key : {"replicas", "fidelity", "queue"})
    if (record.contains(key)) configuration[key] = record[key];
  const Json options = record.value("parameters", Json::object());
  for (const auto& [key, value] : options.items()) configuration["methods." + label + "." + key] = value;
  const Json swept = record.value("swept", Json::object());
  for (const auto& [key, value] : swept.items())
    if (key != "seed") configuration[key] = value;
}

// The scenario as it stands at a point of its sweep; null where it is not known.
Json scenario_at(const RunDirectory& run, const Json& swept) {
  Json scenario = run.written;
  if (!scenario.is_object()) return nullptr;
  try {
    for (const auto& [key, value] : swept.items()) assign_in_scenario(scenario, key, value, "sweep");
  } catch (const InputError&) {
    return run.written;
  }
  return scenario;
}

// Of the method with this label: what it says of a section that the scenario has too.
Json own_section(const Json& scenario, const std::string& label, const char* section) {
  const Json methods = member(scenario, "methods");
  for (const Json& method : methods.is_array() ? methods : Json::array())
    if (method.is_object() && plain(method.value("label", member(method, "name"))) == label)
      return member(method, section);
  return nullptr;
}

bool is_inside(const std::string& path, const std::string& section) {
  return path.rfind(section + ".", 0) == 0;
}

// For all: a resolved optimizer has values that follow from others.
void share_optimizer(const Json& scenario, Configuration& configuration) {
  const Json written = member(member(scenario, "train"), "optimizer");
  const std::string section = "train.optimizer";
  const Configuration own = configuration;
  for (const auto& [path, value] : own.items()) {
    if (!is_inside(path, section)) continue;
    if (const Json shared = member(written, path.substr(section.size() + 1)); !shared.is_null())
      configuration[path] = shared;
    else
      configuration.erase(path);
  }
}

// What the scenario's own section comes to; null where it has none.
Json shared_pipeline(const Json& scenario) {
  const Json written = member(scenario, "pipeline");
  if (!written.is_object()) return nullptr;
  try {
    return member(with_effective_pipeline({{"method", Json::object()}, {"pipeline", written}}), "pipeline");
  } catch (const InputError&) {  // whole only with what each method says of it
    return written;
  }
}

// A method may have sections `optimizer` and `pipeline` of its own, which resolved cases have in place of the
// scenario's. They are options of the method: beside others its cases stand where the scenario puts all.
void share_own_sections(const RunDirectory& run, const Json& resolved, const std::string& label,
                        Configuration& configuration) {
  const Json scenario = scenario_at(run, resolved.value("swept", Json::object()));
  if (scenario.is_null()) return;
  share_optimizer(scenario, configuration);
  const std::string option = "methods." + label + ".";
  if (const Json own = own_section(scenario, label, "optimizer"); own.is_object())
    flatten(own, option + "optimizer", label, configuration);
  const Json own = own_section(scenario, label, "pipeline");
  if (!own.is_object()) return;
  const Configuration before = configuration;
  for (const auto& [path, value] : before.items())
    if (is_inside(path, "pipeline")) configuration.erase(path);
  if (const Json shared = shared_pipeline(scenario); shared.is_object())
    flatten(shared, "pipeline", label, configuration);
  flatten(own, option + "pipeline", label, configuration);
}

}  // namespace

Configuration configuration_of(const RunDirectory& run, const Json& record, const Json& resolved) {
  const std::string label = plain(record.value("label", record.value("method", Json("?"))));
  Configuration configuration = {{"label", label}, {"method", record.value("method", Json(label))}};
  if (resolved.is_object()) {
    flatten(resolved, "", label, configuration);
    share_own_sections(run, resolved, label, configuration);
  } else {
    add_record(record, label, configuration);
  }
  const std::string training = run.train_folder(record);
  const Json said =
      training.empty() ? Json() : read_json_or_null(training + "/training.json", training_declaration());
  if (said.is_object() && said.contains("corpus_hash") && !said.contains("source_entropy"))
    configuration["corpus_hash"] = said["corpus_hash"];
  return configuration;
}

}  // namespace longhaul
