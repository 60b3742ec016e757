#include "methods/common/python_step.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/scenario/scenario_options.h"
#include "methods/common/compression.h"
#include "methods/common/registry.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;

bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Names tensors_of(const OperationPlan& plan) {
  std::set<std::string> all;
  for (const OperationRule& rule : plan.rules)
    for (const std::string& tensor : rule.tensors()) all.insert(tensor);
  return {all.begin(), all.end()};
}

// A step is taken when an operation among groups has arrived, on weights and what is kept beside them.
bool takes_steps_on_weights(const OperationPlan& plan) {
  const auto fits = [](const OperationRule& rule) {
    return (rule.kind == OperationKind::kAllReduce || rule.kind == OperationKind::kGroupAverage) &&
           !has_targets(rule.grouping) && !rule.before_optimizer && !rule.sharded;
  };
  return !plan.rules.empty() && plan.local.empty() && plan.delays.empty() &&
         std::all_of(plan.rules.begin(), plan.rules.end(), fits);
}

// Names that rows of all replicas have already.
bool is_taken(const std::string& name) {
  return has({"theta", "weights", "gradient", "delta", "first_moment", "second_moment", "error", "sent_mean",
              "loss", "round", "shape", kSlowWeightsRow, kOuterMomentumRow},
             name);
}

std::string content_of(const std::string& file, const std::string& path) {
  const std::optional<std::string> text = read_file(file);
  if (!text) throw InputError(path, fmt::format("{} {}", file, why_unreadable(file)), "a Python file");
  return hex64(fnv1a(*text));
}

// Of what the file assigns to `name`, or of its function step.
[[noreturn]] void refuse(const Json& python, const std::string& name, const std::string& found,
                         const std::string& allowed, const std::string& hint = "") {
  const Json& lines = python["line"];
  const int line = lines.value(name, lines.at("step").get<int>());
  throw InputError("method.file",
                   fmt::format("{}, line {}: {}", python["file"].get<std::string>(), line, found), allowed,
                   hint);
}

// The options that the file says, where the scenario does not.
void add_defaults_of_file(const Json& step, const std::vector<const Node*>& sections, const std::string& file,
                          const std::string& path, Json& given) {
  const std::map<std::string, std::string> in_file = {{"inner_steps", "every"}, {"codec", "codec"}};
  for (const auto& [key, name_there] : in_file) {
    if (!step.contains(name_there) || given.contains(key)) continue;
    given[key] = step[name_there];
    try {
      for (const Node* options : sections)
        if (const Node* option = options->child(key))
          resolve(section("", {*option}), {{key, given[key]}}, path);
    } catch (const InputError& error) {
      const InputErrorParts& parts = error.parts();
      const int line = step["line"].value(name_there, 1);
      throw InputError(path, fmt::format("{}, line {}: {}: {}", file, line, name_there, parts.found),
                       parts.allowed, parts.hint);
    }
  }
}

// Whether it is of its default's type.
void check_parameter(const Json& value, const Json& fallback, const std::string& path) {
  const bool fits =
      value.is_primitive() && !value.is_null() &&
      (fallback.is_null() || (fallback.is_number() && value.is_number()) || fallback.type() == value.type());
  if (!fits)
    throw InputError(path, "found " + value.dump(),
                     fallback.is_string()    ? "a text"
                     : fallback.is_boolean() ? "true or false"
                                             : "a number");
}

}  // namespace

Node python_method_option() {
  return section("python", {text("name").required(),
                            text("file").required().means("from the scenario's folder"), anything("")})
      .means("a step of yours on numpy arrays (docs/howto/method-in-python.md)");
}

const std::vector<std::string>& options_of_steps() {
  static const Names names = {"outer_lr", "outer_momentum", "nesterov",   "alpha",
                              "beta",     "gamma",          "group_size", "pattern"};
  return names;
}

bool has_python_step(const Json& method_options) {
  return method_options.contains("python");
}

std::string python_name_of(const std::string& row) {
  return row == "weights"           ? "theta"
         : row == kSlowWeightsRow   ? "phi"
         : row == kOuterMomentumRow ? "momentum"
                                    : row;
}

std::string row_named_in_python(const std::string& name) {
  return name == "phi" ? kSlowWeightsRow : name == "momentum" ? kOuterMomentumRow : name;
}

Json python_parameters(const Json& method_options) {
  const Json& python = method_options.at("python");
  Json all = python.at("parameters");
  for (const Json& name : python.at("options")) all[name.get<std::string>()] = method_options.at(name);
  return all;
}

void check_python_content(const Json& method_options) {
  const Json& python = method_options.at("python");
  const std::string file = python.at("file"), wanted = python.at("content"),
                    found = content_of(file, "method.file");
  if (found != wanted)
    throw InputError("method.file",
                     fmt::format("{} has changed since the run began (its hash is {})", file, found),
                     "hash " + wanted, "put it back, or begin a new run");
}

void change_plan(const Json& method_options, const PlannedModel& model, OperationPlan& plan) {
  if (!has_python_step(method_options)) return;
  const Json& python = method_options["python"];
  if (python.at("declares")) plan.keeps.clear();
  for (const Json& name : python.at("keeps"))
    if (const std::string row = row_named_in_python(name); !has(plan.keeps, row)) plan.keeps.push_back(row);
  for (OperationRule& rule : plan.rules) {
    if (python.at("sends").empty() || rule.payload.empty()) continue;
    PayloadPart part = rule.payload.front();
    if (python.contains("compression")) part.codec = codec_of(python["compression"], model, part.columns);
    rule.payload.clear();
    for (const Json& tensor : python["sends"]) {
      rule.payload.push_back(part);
      rule.payload.back().tensor = tensor;
    }
  }
}

void PythonSteps::expand(Json& scenario, const std::string& folder, const std::string& path) {
  const Json methods = member(scenario, "methods");
  for (std::size_t i = 0; methods.is_array() && i < methods.size(); ++i)
    if (member(methods[i], "name") == "python")
      expand_method(scenario["methods"][i], element_path(child_path(path, "methods"), i), folder);
}

const PythonSteps::File& PythonSteps::described(const std::string& file, const std::string& path) {
  const auto [found, is_new] = files_.emplace(file, File());
  if (!is_new) return found->second;
  try {
    found->second.content = content_of(file, path);
    found->second.child = std::make_unique<PythonChild>();
    found->second.description = found->second.child->ask({{"file", file}});
  } catch (const InputError& error) {
    files_.erase(found);
    InputErrorParts parts = error.parts();
    parts.path = path;
    throw InputError(parts);
  }
  return found->second;
}

void PythonSteps::expand_method(Json& method, const std::string& path, const std::string& folder) {
  const std::string file_path = child_path(path, "file");
  if (!member(method, "file").is_string()) resolve(python_method_option(), method, path);  // throws
  const std::string file =
      (fs::absolute(folder) / method["file"].get<std::string>()).lexically_normal().string();
  const File& read = described(file, file_path);
  const Json& step = read.description;
  const bool declares = step.contains("among");
  const int among = step.value("among", 0);  // members of a group; 0: all
  const std::string name = declares ? (among == 0 ? "diloco" : "noloco") : step["like"];
  Names names;
  for (const Method& known : methods()) names.push_back(known.name);
  if (!has(names, name))
    throw InputError(file_path, fmt::format("{} has like = \"{}\"", file, name), join(names),
                     did_you_mean(name, names));
  const Method& like = method_named(name);
  Node options = section("", like.options);
  if (declares) {
    const auto end = std::remove_if(options.children.begin(), options.children.end(),
                                    [](const Node& option) { return has(options_of_steps(), option.key); });
    options.children.erase(end, options.children.end());
  }
  const Node common = section("", common_method_options(like.optimizer)),
             compression = section("", declares && among > 0 ? compression_options() : std::vector<Node>());

  Json expanded = {{"name", like.name}, {"label", "python"}}, parameters = Json::object(),
       shared = Json::array(), compressed = Json::object();
  if (among > 0) expanded["group_size"] = among;
  Json given = method;
  if (declares) add_defaults_of_file(step, {&options, &compression}, file, file_path, given);
  for (const auto& [key, value] : given.items()) {
    if (key == "name" || key == "file" || key == "content") continue;
    if (options.child(key) || common.child(key)) {
      expanded[key] = value;
    } else if (compression.child(key)) {
      compressed[key] = value;
    } else if (step["parameters"].contains(key)) {
      check_parameter(value, step["parameters"][key], child_path(path, key));
      parameters[key] = value;
    } else {
      Names known = {"file"};
      for (const Node* node : std::initializer_list<const Node*>{&options, &common, &compression})
        for (const Node& child : node->children)
          if (child.key != "python") known.push_back(child.key);
      for (const auto& [name, unused] : step["parameters"].items())
        if (!has(known, name)) known.push_back(name);
      throw InputError(child_path(path, key), fmt::format("unknown key \"{}\"", key), join(known),
                       did_you_mean(key, known));
    }
  }
  for (const auto& [name, fallback] : step["parameters"].items()) {
    const bool is_option = options.child(name) != nullptr;
    if (is_option) shared.push_back(name);
    Json& values = is_option ? expanded : parameters;
    if (values.contains(name)) continue;
    if (!fallback.is_null())
      values[name] = fallback;
    else if (!is_option)
      throw InputError(child_path(path, name), "this key is missing", "a number or a text",
                       fmt::format("the step in {} takes it and has no default", file));
  }
  Json python = {{"file", file},
                 {"content", read.content},
                 {"parameters", parameters},
                 {"options", shared},
                 {"declares", declares}};
  if (!compressed.empty()) python["compression"] = resolve(compression, compressed, path);
  for (const char* key : {"reads", "keeps", "sends", "columnwise", "line"}) python[key] = step[key];
  expanded["python"] = python;
  method = expanded;
}

void PythonSteps::check(Case& config) {
  if (!has_python_step(config.method.options)) return;
  check_python_content(config.method.options);
  const Json python = config.method.options["python"];
  const OperationPlan plan = config.train ? trained_plan_of(config) : plan_of(config);
  if (!takes_steps_on_weights(plan))
    refuse(python, "like",
           fmt::format("like = \"{}\", which does more than a step on what groups have averaged",
                       config.method.name),
           "diloco, noloco, local-sgd, hierarchical, moshpit, streaming-diloco, sparseloco or muloco");
  for (const Json& name : python["keeps"])
    if (is_taken(name))
      refuse(python, "keeps", fmt::format("keeps has {}, a name that is taken", name.dump()), "another name");

  Names tables = {"theta"};
  for (const std::string& row : plan.keeps) tables.push_back(python_name_of(row));
  Names sendable = {"weights"};
  sendable.insert(sendable.end(), tables.begin() + 1, tables.end());
  if (has(tables, "phi")) sendable.push_back("delta");
  const Names tensors = tensors_of(plan);
  for (const std::string& tensor : tensors)
    if (!has(sendable, tensor))
      refuse(python, "sends", fmt::format("sends has \"{}\"", tensor), join(sendable),
             tensor == "delta" ? "delta is theta less phi, so keep phi" : did_you_mean(tensor, sendable));
  if (!python["sends"].empty())
    for (const OperationRule& rule :
         method_named(config.method.name).plan(config.method, {1 << 20, {}}).rules)
      if (!rule.is_blocking())
        refuse(python, "sends", fmt::format("sends with messages that are late (rule \"{}\")", rule.name),
               "no sends, or a method whose operations all wait");

  Names allowed = tables;
  for (const std::string& tensor : tensors)
    allowed.insert(allowed.end(), {"mean_" + tensor, "sent_" + tensor});
  allowed.insert(allowed.end(), {"loss", "round", "shape"});
  for (const std::string& name : python["reads"].get<Names>())
    if (!has(allowed, name))
      refuse(python, "step", fmt::format("step has the argument \"{}\"", name), join(allowed),
             did_you_mean(name, allowed));
  const Json parameters = python_parameters(config.method.options);
  if (tried_.insert(python["file"].dump() + parameters.dump() + config.method.name).second)
    described(python["file"], "method.file")
        .child->ask({{"try", {{"tables", tables}, {"parameters", parameters}}}});
  if (config.train) {
    config.method.options["python"]["model"] = config.resolved["train"]["model"];
    config.resolved["method"]["python"]["model"] = config.resolved["train"]["model"];
  }
}

}  // namespace longhaul
