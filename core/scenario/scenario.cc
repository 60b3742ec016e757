#include "core/scenario/scenario.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/scenario/inner_optimizer.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

const std::string kMethods = "methods.";

Json read_json(const std::string& file) {
  const std::optional<std::string> text = read_file(file);
  std::error_code unknown;
  if (text && text->empty())
    throw InputError({file, "", "is empty", "a scenario (JSON)", "longhaul new writes one to start from"});
  if (!text)
    throw InputError({file, "", why_unreadable(file), "a scenario file (JSON)",
                      fs::is_regular_file(fs::path(file) / "scenario.json", unknown)
                          ? "that of this run is " + (fs::path(file) / "scenario.json").string()
                          : "see scenarios/ for examples"});
  try {
    Json json = parse_json(*text, JsonComments::kAllowed);  // as longhaul new writes them
    check_no_duplicate_keys(*text);
    return json;
  } catch (const InputError& error) {
    InputErrorParts parts = error.parts();
    parts.file = file;
    if (parts.allowed.empty()) parts.allowed = "a JSON object";
    throw InputError(parts);
  }
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

// "" where neither is a text: what is wrong then, resolve() says.
std::string label_of(const Json& method) {
  for (const char* key : {"label", "name"})
    if (const Json word = member(method, key); !word.is_null())
      return word.is_string() ? word.get<std::string>() : "";
  return "";
}

// The method that a dotted key "methods.LABEL.key" addresses; null if there is none.
Json* method_labelled(Json& scenario, const std::string& label) {
  if (!scenario.contains("methods") || !scenario["methods"].is_array()) return nullptr;
  for (Json& method : scenario["methods"])
    if (method.is_object() && label_of(method) == label) return &method;
  return nullptr;
}

std::vector<std::string> labels_of(const Json& scenario) {
  std::vector<std::string> labels;
  for (const Json& method : scenario.value("methods", Json::array()))
    if (method.is_object()) labels.push_back(label_of(method));
  return labels;
}

// One step down a dotted key: "topology", or "methods[0]" as errors write elements of lists.
Json& inside(Json& place, const std::string& step, const std::string& dotted, const std::string& where) {
  const std::size_t bracket = step.find('[');
  const std::string key = step.substr(0, bracket);
  if (!place.is_null() && !place.is_object())
    throw InputError(where, fmt::format("\"{}\" in \"{}\" is not inside an object", key, dotted),
                     "a dotted key of the scenario");
  Json* found = &place[key];
  for (std::size_t open = bracket; open != std::string::npos; open = step.find('[', open + 1)) {
    const std::size_t close = std::min(step.find(']', open), step.size());
    const std::string number = step.substr(open + 1, close - open - 1);
    const std::optional<std::size_t> index = parse_number<std::size_t>(number);
    const std::size_t size = found->is_array() ? found->size() : 0;
    if (!index || *index >= size)
      throw InputError(where, fmt::format("\"{}\" in \"{}\" names no element", step, dotted),
                       size == 0 ? fmt::format("a key: the scenario has no list \"{}\"", key)
                                 : fmt::format("{0}[0] to {0}[{1}]", key, size - 1));
    found = &(*found)[*index];
  }
  return *found;
}

// Of a key that addresses none: "did you mean", for a label up to the next point, or up to the last one.
std::string nearest_label(const std::string& dotted, const std::vector<std::string>& labels) {
  if (dotted.size() <= kMethods.size()) return "";
  const std::string rest = dotted.substr(kMethods.size());
  const std::string nearest = did_you_mean(rest.substr(0, rest.find('.')), labels);
  return nearest.empty() ? did_you_mean(rest.substr(0, rest.rfind('.')), labels) : nearest;
}

void assign(Json& scenario, const std::string& dotted, const Json& value, const std::string& where) {
  std::vector<std::string> keys = split(dotted, '.');
  if (keys.empty()) throw InputError(where, "found an empty key", "a dotted key, as network.tcp.connections");
  Json* place = &scenario;
  const bool is_set = where == "--set";
  // In a sweep by label alone: the other methods' cases must not be multiplied.
  const bool is_by_label = keys[0] == "methods" && (keys.size() > 1 || !is_set);
  if (is_by_label || (!is_set && keys[0].rfind("methods[", 0) == 0)) {
    const std::vector<std::string> labels = labels_of(scenario);
    const std::string label = addressed_label(dotted, labels);
    place = label.empty() || !is_by_label ? nullptr : method_labelled(scenario, label);
    keys = split(dotted.substr(std::min(dotted.size(), kMethods.size() + label.size() + 1)), '.');
    if (!place || keys.empty())
      throw InputError(where, fmt::format("\"{}\" names no method of the scenario", dotted),
                       "methods.LABEL.key with a label of " + join(labels), nearest_label(dotted, labels));
  }
  for (const std::string& key : keys) place = &inside(*place, key, dotted, where);
  *place = value;
}

void apply_assignment(Json& scenario, const std::string& assignment) {
  // A label may hold one itself.
  const std::string label = addressed_label(assignment, labels_of(scenario));
  const std::size_t equals = assignment.find('=', label.empty() ? 0 : kMethods.size() + label.size());
  if (equals == std::string::npos)
    throw InputError("--set", fmt::format("found \"{}\"", assignment), "key.path=value");
  const std::string text = assignment.substr(equals + 1);
  Json value;
  try {
    value = parse_json(text);
  } catch (const InputError&) {  // a text without its quotes
    value = text;
  }
  const std::string key = assignment.substr(0, equals);
  assign(scenario, key, value, "--set");
  // Of two keys that say the same thing in two ways, the one set last holds.
  if (key == "seeds") scenario.erase("seed");
  if (key == "seed") scenario.erase("seeds");
  if (key == "workload.total_tokens") scenario["workload"].erase("steps");
  if (key == "workload.steps") scenario["workload"].erase("total_tokens");
}

// One point of the sweep: dotted keys and their values, in the order written.
using Point = std::vector<std::pair<std::string, Json>>;

std::vector<Point> product(const Json& axes, const std::string& path) {
  if (!axes.is_object())
    throw InputError(path, "found " + axes.dump(), "an object of {dotted key: [values]}");
  std::vector<Point> points(1);
  for (const auto& [key, values] : axes.items()) {
    if (!values.is_array() || values.empty())
      throw InputError(child_path(path, fmt::format("\"{}\"", key)), "found " + values.dump(),
                       "a list of values, not empty");
    std::vector<Point> longer;
    for (const Point& point : points)
      for (const Json& value : values) {
        longer.push_back(point);
        longer.back().emplace_back(key, value);
      }
    points = std::move(longer);
  }
  return points;
}

std::vector<Point> sweep_points(const Json& scenario) {
  if (!scenario.contains("sweep")) return {Point()};
  const Json& sweep = scenario["sweep"];
  if (!sweep.is_array()) return product(sweep, "sweep");
  std::vector<Point> points;
  for (std::size_t i = 0; i < sweep.size(); ++i)
    for (Point& point : product(sweep[i], element_path("sweep", i))) points.push_back(std::move(point));
  if (points.empty()) throw InputError("sweep", "found an empty list", "an object, or a list of objects");
  return points;
}

bool addresses_other_method(const std::string& key, const std::string& label,
                            const std::vector<std::string>& labels) {
  return key.rfind(kMethods, 0) == 0 && addressed_label(key, labels) != label;
}

// Where the sweep has `key`: "sweep.\"replicas\"", in a list of sweeps that of the first one which has it.
std::string place_in_sweep(const Json& sweep, const std::string& key) {
  const std::string quoted = fmt::format("\"{}\"", key);
  if (!sweep.is_array()) return child_path("sweep", quoted);
  for (std::size_t i = 0; i < sweep.size(); ++i)
    if (sweep[i].contains(key)) return child_path(element_path("sweep", i), quoted);
  return "sweep";
}

// A dotted key as the path of what it assigns: "methods.LABEL.key" is "methods[2].key".
std::string assigned_path(const Json& scenario, const std::string& key) {
  const std::vector<std::string> labels = labels_of(scenario);
  const std::string label = addressed_label(key, labels);
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (!label.empty() && labels[i] == label)
      return element_path("methods", i) + key.substr(kMethods.size() + label.size());
  return key;
}

// An error in what a point has assigned is one of the sweep, where the user wrote it.
InputError in_sweep(const InputError& error, const Json& scenario, const Point& point) {
  InputErrorParts parts = error.parts();
  for (const auto& [key, value] : point) {
    const std::string path = assigned_path(scenario, key);
    if (path.rfind(parts.path + ".", 0) == 0 && !scenario.contains(parts.path)) {  // a section of its own
      parts.path = place_in_sweep(scenario["sweep"], key);
      break;
    }
    if (parts.path != path && parts.path.rfind(path + ".", 0) != 0 && parts.path.rfind(path + "[", 0) != 0)
      continue;
    parts.path = place_in_sweep(scenario["sweep"], key) + parts.path.substr(path.size());
    break;
  }
  return InputError(parts);
}

// What a folder may be called: other characters are one '_' between words; "none" for {} and [].
std::string name_part(const Json& value) {
  std::string name;
  bool is_gap = false;
  for (char c : value.is_string() ? value.get<std::string>() : value.dump()) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && std::string("._+-").find(c) == std::string::npos) {
      is_gap = true;
      continue;
    }
    if (is_gap && !name.empty()) name += '_';
    is_gap = false;
    name += c;
  }
  return name.empty() ? "none" : name;
}

std::string case_name(const std::string& label, const Json& swept, bool with_seed, std::uint64_t seed) {
  std::string name = name_part(label);
  for (const auto& [key, value] : swept.items()) {
    const std::string prefix = kMethods + label + ".";
    const std::string last = key.rfind(prefix, 0) == 0 ? key.substr(prefix.size()) : key;
    name += fmt::format(",{}={}", name_part(last), name_part(value));
  }
  if (with_seed) name += fmt::format(",seed={}", seed);
  // A folder's name has at most 255 bytes; the hash tells names apart that differ behind the cut.
  return name.size() > 200 ? name.substr(0, 183) + "-" + hex64(fnv1a(name)) : name;
}

void check_labels(const Json& scenario) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < scenario["methods"].size(); ++i) {
    const std::string label = label_of(scenario["methods"][i]);
    if (label.find_first_not_of(" \t\r\n") == std::string::npos)
      throw InputError(element_path("methods", i) + ".label", fmt::format("found \"{}\"", label),
                       "a text that can be seen", "without the key the method's name is its label");
    if (!seen.insert(label).second)
      throw InputError(element_path("methods", i), fmt::format("the label \"{}\" is used twice", label),
                       "a label of its own for each method", "add \"label\": \"...\"");
  }
}

void check_seeds(const Json& scenario) {
  if (!scenario.contains("seed") || !scenario.contains("seeds")) return;
  throw InputError("seeds", fmt::format("found beside \"seed\": {}", scenario["seed"].dump()), "one of them",
                   fmt::format("for that seed alone: \"seeds\": [{}]", scenario["seed"].dump()));
}

// A seed that stands twice is one case, whose interval would be of fewer seeds than the list has.
void check_each_once(const Json& seeds) {
  for (std::size_t i = 0; i < seeds.size(); ++i)
    if (const auto first = std::find(seeds.begin(), seeds.end(), seeds[i]) - seeds.begin();
        first != static_cast<std::ptrdiff_t>(i))
      throw InputError(element_path("seeds", i),
                       fmt::format("found {} again, as in seeds[{}]", seeds[i].dump(), first),
                       "each seed once");
}

bool sweeps_any(const Json& written, const std::set<std::string>& keys) {
  for (const Point& point : sweep_points(written))
    for (const auto& [key, value] : point)
      if (keys.count(key) > 0) return true;
  return false;
}

// Adds the defaults that follow from other values, where the sweep leaves those alone; and removes what does
// not count. For readers of the whole scenario: the cases have what was written.
void complete(Json& resolved, const Json& written) {
  if (resolved.contains("seeds")) resolved.erase("seed");
  if (!resolved.contains("train") || sweeps_any(written, {"train", "train.steps"})) return;
  Json& train = resolved["train"];
  const int steps = train["steps"];
  for (const char* key : {"evaluate_every", "checkpoint_every"})
    if (!train.contains(key)) train[key] = std::max(1, steps / 10);
  if (sweeps_any(written, {"train.optimizer", "train.optimizer.lr"})) return;
  Json& section = train["optimizer"];
  const OptimizerSpec optimizer = parse_optimizer(section, steps, "train.optimizer");
  if (!section.contains("min_lr")) section["min_lr"] = optimizer.min_lr;
  if (!section.contains("warmup")) section["warmup"] = optimizer.warmup;
}

// What tells cases apart. Objects of a sweep may name their keys in any order.
std::string identity(const std::string& label, const Json& swept, const Json& seed) {
  std::map<std::string, std::string> values;
  for (const auto& [key, value] : swept.items()) values[key] = value.dump();
  std::string text = Json{label, seed}.dump();
  for (const auto& [key, value] : values) text += "," + Json(key).dump() + ":" + value;
  return text;
}

using Expand = std::function<void(Json&, const std::string&)>;

struct Expansion {
  const Json& written;
  const Node& declaration;
  const std::string &scenario_name, &folder;
  const std::function<void(const Case&)>& check;
  const Expand& expand;
  std::vector<Case> expanded = {};
  std::set<std::string> names = {}, keys = {};
  std::vector<std::string> labels = {};

  std::vector<Case> cases() {
    for (const Point& point : sweep_points(written)) add_point(point);
    return std::move(expanded);
  }

  void add_point(const Point& point) {
    Json scenario = written;
    for (const auto& [key, value] : point) assign(scenario, key, value, "sweep");
    try {
      if (expand) expand(scenario, folder);
      scenario = resolve(declaration, scenario, "");
    } catch (const InputError& error) {
      throw point.empty() ? error : with_point(in_sweep(error, written, point), point);
    }
    const bool many_seeds = scenario.contains("seeds");
    const Json seeds = many_seeds ? scenario["seeds"] : Json::array({scenario["seed"]});
    check_each_once(seeds);
    labels = labels_of(scenario);
    for (const Json& method : scenario["methods"])
      for (const Json& seed : seeds) add_case(scenario, method, seed, many_seeds, point);
  }

  void add_case(const Json& scenario, Json method, const Json& seed, bool many_seeds, const Point& point) {
    const std::string label = label_of(method);
    method["label"] = label;
    Json swept = Json::object();
    for (const auto& [key, value] : point)
      if (!addresses_other_method(key, label, labels)) swept[key] = value;
    const std::string itself = identity(label, swept, seed);
    std::string name = case_name(label, swept, many_seeds, seed);
    if (!keys.insert(itself).second)
      return;  // a point that differs only in another method's keys, or stands in two objects of the sweep
    if (names.count(name) > 0) name += "-" + hex64(fnv1a(itself));  // as of the labels "a@b" and "a b"
    if (!names.insert(name).second)
      throw InputError("sweep", fmt::format("two cases would be called \"{}\"", name),
                       "values that differ in their readable form");
    Json resolved = scenario;
    for (const char* key : {"methods", "seeds", "sweep", "claims", "tables", "validation", "fit", "$schema",
                            "name", "description"})
      resolved.erase(key);
    resolved["seed"] = seed;
    resolved["method"] = method;
    resolved["swept"] = swept;
    resolved["case"] = name;
    resolved["scenario"] = scenario_name;
    resolved["folder"] = folder;
    try {
      expanded.push_back(parse_case(resolved));
      if (check) check(expanded.back());
    } catch (const InputError& of_case) {
      const InputError error = in_scenario(of_case, scenario, label);
      throw point.empty() ? error : with_point(in_sweep(error, written, point), point);
    }
  }

  static InputError with_point(const InputError& error, const Point& point) {
    std::vector<std::string> where;
    for (const auto& [key, value] : point) where.push_back(key + " = " + value.dump());
    InputErrorParts parts = error.parts();
    parts.hint += fmt::format("{}(at the sweep's point {})", parts.hint.empty() ? "" : " ", join(where));
    return InputError(parts);
  }
};

}  // namespace

std::string addressed_label(const std::string& key, const std::vector<std::string>& labels) {
  std::string longest;
  for (const std::string& label : labels)
    if (key.rfind(kMethods + label + ".", 0) == 0 && label.size() > longest.size()) longest = label;
  return longest;
}

InputError in_scenario(const InputError& error, const Json& scenario, const std::string& label) {
  InputErrorParts parts = error.parts();
  const Json& methods = scenario.at("methods");
  for (std::size_t i = 0; i < methods.size(); ++i) {
    if (methods[i].value("label", methods[i].at("name").get<std::string>()) != label) continue;
    const std::size_t dot = parts.path.find('.');
    const std::string section = parts.path.substr(0, dot),
                      rest = dot == std::string::npos ? "" : parts.path.substr(dot + 1);
    const Json own = member(methods[i], section);
    if (section == "method" && !rest.empty())
      parts.path = element_path("methods", i) + "." + rest;
    else if (own.is_object() && (member(scenario, section).is_null() ||
                                 !member(own, rest.substr(0, rest.find_first_of(".["))).is_null()))
      parts.path = element_path("methods", i) + "." + parts.path;
  }
  return InputError(parts);
}

void assign_in_scenario(Json& scenario, const std::string& dotted, const Json& value,
                        const std::string& where) {
  assign(scenario, dotted, value, where);
}

Json read_scenario(const std::string& file, const std::vector<std::string>& assignments) {
  Json written = read_json(file);
  try {
    if (!written.is_object())
      throw InputError("", fmt::format("found {}", written.type_name()), "a JSON object");
    for (const std::string& assignment : assignments) apply_assignment(written, assignment);
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
  return written;
}

Scenario load_scenario(const std::string& file, const std::vector<std::string>& assignments,
                       const Node& declaration, const std::function<void(const Case&)>& check,
                       const Expand& expand) {
  return scenario_of(read_scenario(file, assignments), file, declaration, check, expand);
}

Scenario scenario_of(Json written, const std::string& file, const Node& declaration,
                     const std::function<void(const Case&)>& check, const Expand& expand) {
  Scenario scenario;
  scenario.file = file;
  scenario.written = std::move(written);
  try {
    Json first_point = scenario.written;  // what the sweep gives need not be given outside it
    const std::vector<Point> points = sweep_points(scenario.written);
    for (const auto& [key, value] : points.front()) assign(first_point, key, value, "sweep");
    const std::string folder = fs::absolute(fs::path(file)).parent_path().string();
    try {
      if (expand) expand(first_point, folder);
      scenario.resolved = resolve(declaration, first_point, "");
    } catch (const InputError& error) {
      throw in_sweep(error, scenario.written, points.front());
    }
    check_seeds(scenario.written);
    check_labels(scenario.resolved);
    scenario.name = scenario.resolved.value("name", fs::path(file).stem().string());
    scenario.cases = Expansion{scenario.written, declaration, scenario.name, folder, check, expand}.cases();
    complete(scenario.resolved, scenario.written);
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
  return scenario;
}

}  // namespace longhaul
