#include "methods/common/python_step.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/scenario/scenario_options.h"
#include "methods/common/compression.h"
#include "methods/common/method.h"
#include "methods/common/python_child.h"
#include "methods/common/registry.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;

constexpr int kMostTried = 64;  // members of a group on which `check` tries a step

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
    return (rule.kind == OperationKind::kAllReduce || rule.kind == OperationKind::kGroupAverage ||
            rule.kind == OperationKind::kAllGather) &&
           !has_targets(rule.grouping) && !rule.before_optimizer && !rule.sharded;
  };
  return !plan.rules.empty() && plan.local.empty() && plan.delays.empty() &&
         std::all_of(plan.rules.begin(), plan.rules.end(), fits);
}

// Groups of two exchange whole contributions anyway: who has its own and the mean has the other one too.
bool has_larger_groups(const OperationRule& rule) {
  return rule.is_of_everyone() || rule.grouping == Grouping::kTwoLevel || rule.group_size > 2;
}

// Contributions that travel side by side: no sum on the way has the rows, nor columns that each member chose.
void gather(OperationRule& rule) {
  rule.kind = OperationKind::kAllGather;
  rule.collective = "all-gather";
}

// The members of the largest group that takes a step together.
int members_of(const OperationPlan& plan, int replicas) {
  int members = 1;
  for (const OperationRule& rule : plan.rules)
    members = std::max(
        members, rule.is_of_everyone() || rule.grouping == Grouping::kTwoLevel ? replicas : rule.group_size);
  return std::min(members, replicas);
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

// Whether the step reads contributions as they were sent, one's own included.
std::string contribution_read_by(const Json& reads) {
  for (const Json& name : reads)
    if (const std::string text = name; text.rfind("sent_", 0) == 0 || text.rfind("own_", 0) == 0) return text;
  return "";
}

// Refuses options that bring something else than the rows that the step reads, where they are given.
void check_rows_travel(const Json& expanded, const std::string& path) {
  const Json& python = expanded["python"];
  const auto refuse_key = [&](const Json& options, const char* key, const std::string& name,
                              const std::string& allowed, const std::string& hint) {
    throw InputError(child_path(path, key),
                     fmt::format("found {} with a step that reads {} ({})", options[key].dump(), name,
                                 python["file"].get<std::string>()),
                     allowed, hint);
  };
  const Json& compression = python.contains("compression") ? python["compression"] : expanded;
  if (const std::string name = contribution_read_by(python["reads"]);
      !name.empty() && member(compression, "error_feedback") == "ef21")
    refuse_key(compression, "error_feedback", name, "none or classic",
               "EF21 sends changes, and only their mean is added up");
  const std::string rows = rows_read_by(expanded);
  if (rows.empty()) return;
  const std::string tensor = rows.substr(5),
                    hint = fmt::format("a step that names mean_{0} and own_{0} needs the mean alone", tensor);
  if (expanded.contains("all_reduce"))
    refuse_key(expanded, "all_reduce", rows, "no all_reduce, for an all-gather",
               "an all-reduce brings the mean, and not what each member sent; " + hint);
  if (expanded.value("reduction", "once") != "once")
    refuse_key(expanded, "reduction", rows, "\"once\"", "no mean is made on the way; " + hint);
  if (expanded.contains("quorum") && expanded["quorum"] != "all")
    refuse_key(expanded, "quorum", rows, "\"all\"",
               "who comes late would count with the row of another; " + hint);
  if (expanded.value("pattern", "") == "root" && expanded.value("group_size", 2) != 2)
    refuse_key(expanded, "pattern", rows, "exchange, presend or serial",
               "the root sends back the mean, and not what each member sent; " + hint);
}

}  // namespace

Node python_method_option() {
  return section("python", {text("name").required(),
                            text("file").required().means("from the scenario's folder"), anything("")})
      .means("a step of yours on numpy arrays (docs/howto/method-in-python.md)");
}

Node python_section() {
  const auto names = [](const char* key) { return list_of(key, text("")).required(); };
  return section(
      "python",
      {text("file").required(), text("content").required(), names("reads"), names("keeps"), names("sends"),
       names("options"), boolean("columnwise").required(), boolean("declares").required(),
       section("parameters", {}).required(), table_of("line", integer("").at_least(1)).required(),
       section("compression", compression_options())});
}

const std::vector<std::string>& options_of_steps() {
  static const Names names = {"outer_lr", "outer_momentum", "nesterov",   "alpha",
                              "beta",     "gamma",          "group_size", "pattern"};
  return names;
}

bool has_python_step(const Json& method_options) {
  return method_options.contains("python");
}

std::string rows_read_by(const Json& method_options) {
  if (!has_python_step(method_options)) return "";
  for (const Json& name : method_options["python"].at("reads"))
    if (const auto& text = name.get_ref<const std::string&>(); text.rfind("sent_", 0) == 0) return text;
  return "";
}

std::vector<std::string> python_warnings(const Case& config) {
  std::vector<std::string> warnings;
  if (!has_python_step(config.method.options)) return warnings;
  const Json& python = config.method.options["python"];
  for (const Json& name : python.value("own_alone", Json::array())) {
    const std::string sent = name, tensor = sent.substr(5);
    warnings.push_back(
        fmt::format("{}: the step in {} names {}, so all contributions travel (all-gather), but seems to use "
                    "a member's own row alone; own_{} has that, and needs the mean's traffic alone",
                    config.method.label, python["file"].get<std::string>(), sent, tensor));
  }
  return warnings;
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
  const bool reads_rows = !rows_read_by(method_options).empty();
  for (OperationRule& rule : plan.rules) {
    if (reads_rows && has_larger_groups(rule) && rule.collective != "serial") gather(rule);
    if (python.at("sends").empty() || rule.payload.empty()) continue;
    PayloadPart part = rule.payload.front();
    if (python.contains("compression")) part.codec = codec_of(python["compression"], model, part.columns);
    rule.payload.clear();
    for (const Json& tensor : python["sends"]) {
      rule.payload.push_back(part);
      rule.payload.back().tensor = tensor;
    }
    if (!part.codec.adds_up() && has_larger_groups(rule)) gather(rule);
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
      for (const auto& [parameter, unused] : step["parameters"].items())
        if (!has(known, parameter)) known.push_back(parameter);
      throw InputError(child_path(path, key), fmt::format("unknown key \"{}\"", key), join(known),
                       did_you_mean(key, known));
    }
  }
  for (const auto& [parameter, fallback] : step["parameters"].items()) {
    const bool is_option = options.child(parameter) != nullptr;
    if (is_option) shared.push_back(parameter);
    Json& values = is_option ? expanded : parameters;
    if (values.contains(parameter)) continue;
    if (!fallback.is_null())
      values[parameter] = fallback;
    else if (!is_option)
      throw InputError(child_path(path, parameter), "this key is missing", "a number or a text",
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
  check_rows_travel(expanded, path);
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

  // Who leaves after it has sent is in the mean, and takes no step: its row would be missing.
  if (const std::string rows = rows_read_by(config.method.options);
      !rows.empty() && config.has_absences() &&
      !std::all_of(plan.rules.begin(), plan.rules.end(),
                   [](const OperationRule& rule) { return rule.is_blocking(); }))
    refuse(python, "step",
           fmt::format("step reads {} of messages that are late, with faults by which replicas leave", rows),
           fmt::format("mean_{0} and own_{0}, or a method whose operations all wait", rows.substr(5)));

  Names allowed = tables;
  for (const std::string& tensor : tensors)
    allowed.insert(allowed.end(), {"mean_" + tensor, "own_" + tensor, "sent_" + tensor});
  allowed.insert(allowed.end(), {"loss", "round", "shape"});
  for (const std::string& name : python["reads"].get<Names>())
    if (!has(allowed, name))
      refuse(python, "step", fmt::format("step has the argument \"{}\"", name), join(allowed),
             did_you_mean(name, allowed));
  const Json parameters = python_parameters(config.method.options);
  const int members = members_of(plan, config.replicas);
  const bool is_of_all = members == config.replicas;
  Json sizes = {std::min(members, kMostTried)};
  if (sitting_out(plan, config.replicas) > 0) sizes.push_back(1);
  const std::string trial = fmt::format("{} {} {} {} {}", python["file"].dump(), parameters.dump(),
                                        config.method.name, sizes.dump(), is_of_all);
  if (tried_.insert(trial).second) {
    const Json found = described(python["file"], "method.file")
                           .child->ask({{"try",
                                         {{"tables", tables},
                                          {"parameters", parameters},
                                          {"sizes", sizes},
                                          {"is_of_all", is_of_all}}}});
    if (members > 2) config.method.options["python"]["own_alone"] = found.at("own_alone");
  }
  if (config.train) {
    config.method.options["python"]["model"] = config.resolved["train"]["model"];
    config.resolved["method"]["python"]["model"] = config.resolved["train"]["model"];
  }
}

}  // namespace longhaul
