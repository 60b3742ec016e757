#include "analysis/comparison/configuration.h"

#include <map>

#include "analysis/record_values.h"
#include "analysis/run_files.h"
#include "analysis/text.h"
#include "core/errors.h"

namespace longhaul {
namespace {

// Names and places, what says it once more, and what changes no number.
bool says_nothing(const std::string& key) {
  static const std::vector<std::string> keys = {
      "seed",  "case",       "scenario", "swept", "sites", "folder", "train.checkpoint_every",
      "label", "method.name"};
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
  if (path == "method.label") return;
  flat.set(path.rfind(option, 0) == 0 ? "methods." + label + "." + path.substr(option.size()) : path, value);
}

void add_record(const Json& record, const std::string& label, Configuration& configuration) {
  for (const char* key : {"replicas", "fidelity", "queue"})
    if (record.contains(key)) configuration.set(key, record[key]);
  const Json options = record.value("parameters", Json::object());
  for (const auto& [key, value] : options.items()) configuration.set("methods." + label + "." + key, value);
  const Json swept = record.value("swept", Json::object());
  for (const auto& [key, value] : swept.items())
    if (key != "seed") configuration.set(key, value);
}

}  // namespace

Configuration Configuration::of(const RunDirectory& run, const Json& record) {
  Configuration configuration;
  const std::string label = plain(record.value("label", record.value("method", Json("?"))));
  configuration.set("label", label);
  configuration.set("method", record.value("method", Json(label)));
  const Json resolved = read_json_or_null(run.case_folder(record) + "/case.json");
  if (resolved.is_object())
    flatten(resolved, "", label, configuration);
  else
    add_record(record, label, configuration);
  const std::string training = run.train_folder(record);
  const Json said = training.empty() ? Json() : read_json_or_null(training + "/training.json");
  // A synthetic text is drawn from the seed.
  if (said.is_object() && said.contains("corpus_hash") && !said.contains("source_entropy"))
    configuration.set("corpus_hash", said["corpus_hash"]);
  return configuration;
}

Json Configuration::value(const std::string& key) const {
  for (const auto& [name, value] : values_)
    if (name == key) return value;
  return nullptr;
}

void Configuration::set(const std::string& key, Json value) {
  for (auto& [name, old] : values_)
    if (name == key) {
      old = std::move(value);
      return;
    }
  values_.emplace_back(key, std::move(value));
}

std::vector<std::string> Configuration::keys() const {
  std::vector<std::string> names;
  for (const auto& entry : values_) names.push_back(entry.first);
  return names;
}

std::vector<std::string> distinguishing_keys(const std::vector<const Configuration*>& configurations,
                                             const std::vector<std::string>& candidates) {
  std::vector<std::string> needed;
  std::vector<std::string> described(configurations.size());  // by the keys taken so far
  for (const std::string& key : candidates) {
    const bool of_one_method = is_method_option(key);
    std::map<std::string, std::string> first_value;
    bool splits = false;
    std::vector<std::string> longer = described;
    for (std::size_t i = 0; i < configurations.size(); ++i) {
      const Json value = configurations[i]->value(key);
      longer[i] += "\n" + value.dump();
      if (of_one_method && value.is_null()) continue;  // not another value, but another method
      splits = splits || first_value.emplace(described[i], value.dump()).first->second != value.dump();
    }
    if (!splits) continue;
    needed.push_back(key);
    described = std::move(longer);
  }
  return needed;
}

std::string in_words(const Configuration& configuration, const std::vector<std::string>& keys) {
  std::vector<std::string> parts;
  for (const std::string& key : keys)
    if (const Json value = configuration.value(key); !value.is_null())
      parts.push_back(assignment(key, value));
  return join(parts);
}

}  // namespace longhaul
