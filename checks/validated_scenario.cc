#include "checks/validated_scenario.h"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "analysis/claims/claim_checks.h"
#include "analysis/claims/claims.h"
#include "analysis/claims/validation.h"
#include "analysis/comparison/front.h"
#include "analysis/residual.h"
#include "analysis/text.h"
#include "checks/claimed_metrics.h"
#include "checks/compute_time.h"
#include "checks/fidelity_advice.h"
#include "checks/unknown.h"
#include "checks/without_effect.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/sparse_models.h"
#include "core/base/units.h"
#include "core/plan/combinations.h"
#include "core/scenario/metrics.h"
#include "core/scenario/model_file.h"
#include "core/scenario/scenario_options.h"
#include "core/scenario/training_text.h"
#include "methods/common/python_step.h"
#include "methods/common/registry.h"
#include "net/library.h"
#include "net/topologies/registry.h"
#include "net/variation/trace_units.h"
#include "replay/placement/optimized_order.h"
#include "replay/predict/estimate.h"
#include "replay/work/absence_trace.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

void fill_in_places(Case& config) {
  RankOrderSpec& order = config.network.rank_order;
  if (order.kind == RankOrderSpec::Kind::kOptimized) order.places = order_found(config).places;
}

bool has_option(const Json& name, const std::string& key) {
  for (const Method& method : methods())
    if (method.name == name)
      for (const Node& option : method.options)
        if (option.key == key) return true;
  return false;
}

// What a library decides where the scenario does not say.
void fill_in_library(Json& written) {
  const Json name = member(member(written, "network"), "library");
  if (!name.is_string() || !written["network"].is_object()) return;
  const Library* library = nullptr;
  for (const Library& one : libraries())
    if (one.name == name) library = &one;
  if (library == nullptr || library->is_plain()) return;  // another word is refused with its path
  Json& tcp = written["network"]["tcp"];
  if (tcp.is_null()) tcp = Json::object();
  if (tcp.is_object() && !tcp.contains("connections")) tcp["connections"] = library->connections;
  if (!member(written, "methods").is_array()) return;
  for (Json& method : written["methods"]) {
    if (!method.is_object()) continue;
    const auto fill_in = [&](const char* key, const std::string& value) {
      if (!method.contains(key) && has_option(member(method, "name"), key)) method[key] = value;
    };
    fill_in("all_reduce", kLibraryChoice);
    // Of averages of the model: buckets of gradients are DDP's matter.
    if (member(method, "name") != "ddp") fill_in("tensors", library->tensors);
  }
}

// What was checked already, of other cases.
struct Seen {
  std::set<std::string> networks, texts;
};

void check_case(const Case& config, bool is_emulated, Seen& seen) {
  // The model that is trained may have fewer layers than the one that travels.
  check_combinations(config, config.train ? trained_plan_of(config) : plan_of(config));
  for (const Fault& fault : config.faults)
    if (!fault.file.empty()) read_absence_trace(fault, config.replicas);
  if (config.train) {  // those that train on the same text are checked once
    const Case trained = trained_case(config);
    if (seen.texts.insert(config.resolved["train"].dump() + std::to_string(trained.train->shards)).second)
      check_training_text(trained);
  }
  const std::string size =
      std::to_string(config.workload.parameters);  // that of train.model, where none is said
  if (!seen.networks.insert(network_key(config) + member(config.resolved, "faults").dump() + size).second)
    return;
  check_network(config, is_emulated);
  check_collectives(config, plan_of(config));
  check_compute_time(config, plan_of(config));
  // Whether there would be too many slices shows in counting what the replay carries.
  if (config.network.slice.kind != SliceSpec::Kind::kWhole) estimate(config, trace_of(config));
}

// Groups by sites are numerics: the trainer, which knows no network, reads from the case who is at which
// site: with stages, where a replica's first one is. Sites are numbered in the order of their first replicas,
// so that one partition has one name.
void fill_in_sites(Case& config) {
  if (!needs_sites(plan_of(config))) return;
  std::map<int, int> number_of;
  const Topology topology = placed_topology(config);
  const std::vector<int>& sites = topology.site_of();
  const std::size_t workers = sites.empty() ? 0 : as_index(config.workers());
  for (std::size_t worker = 0; worker < workers; worker += as_index(config.pipeline.stages))
    config.site_of.push_back(
        number_of.emplace(sites[worker], static_cast<int>(number_of.size())).first->second);
  if (config.site_of.empty()) {
    const bool by_option = config.method.options.contains("pairing");
    throw InputError(
        by_option ? "method.pairing" : "method.name",
        fmt::format("found \"{}\" on a topology without sites", by_option ? "sites" : config.method.name),
        fmt::format("{}, or the topology {}", by_option ? "\"random\"" : "another method",
                    topologies_with_sites()));
  }
  config.resolved["sites"] = config.site_of;
}

// scenario.json of a run says which bytes its Python files had: a run with others is another one.
void note_python_content(const Case& config, Json& written) {
  if (!has_python_step(config.method.options)) return;
  for (Json& method : written["methods"]) {
    if (method.value("label", method.value("name", "")) != config.method.label) continue;
    Json& content = method["content"];
    const Json& found = config.method.options["python"]["content"];
    if (!content.is_array()) content = Json::array();
    add_new(found, content);
  }
}

std::vector<std::string> labels_of(const Scenario& scenario) {
  std::vector<std::string> labels;
  for (const Json& method : scenario.resolved["methods"])
    labels.push_back(method.value("label", method.at("name").get<std::string>()));
  return labels;
}

std::set<std::string> swept_keys_of(const Scenario& scenario) {
  std::set<std::string> keys;
  for (const Case& config : scenario.cases)
    for (const auto& [key, value] : config.swept.items()) keys.insert(key);
  return keys;
}

// What the figures of a validation are looked up in, before there are results.
std::vector<Json> planned_records(const Scenario& scenario) {
  std::vector<Json> records;
  for (const Case& config : scenario.cases)
    records.push_back({{"case", config.name},
                       {"status", "planned"},
                       {"label", config.method.label},
                       {"seed", config.seed},
                       {"swept", config.swept},
                       {"fidelity", config.network.fidelity}});
  return records;
}

void check_figures(const Scenario& scenario) {
  if (scenario.resolved.contains("plan")) choice_rule(scenario.resolved);
  check_claimed_metrics(scenario);
  check_claims(claims_of(scenario), labels_of(scenario), swept_keys_of(scenario));
  if (scenario.resolved.contains("validation"))
    check_validation(scenario.resolved["validation"], labels_of(scenario), swept_keys_of(scenario),
                     planned_records(scenario));
}

// Of a fit: both ends of each.
void check_axes(const Json& axes) {
  if (!axes.is_array()) return;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (!axes[i].is_array() || axes[i].size() != 2)
      throw InputError(element_path("fit.axes", i), "found " + axes[i].dump(),
                       "a pair of {dotted key: value}", "longhaul fit writes them");
}

}  // namespace

std::string network_key(const Case& config) {
  std::string key = std::to_string(config.replicas);
  for (const char* section : {"network", "method", "workload", "pipeline"})
    key += "/" + member(config.resolved, section).dump();
  return key;
}

const OptimizedOrder& order_found(const Case& config) {
  static std::map<std::string, OptimizedOrder> known;
  const OperationPlan plan = plan_of(config);
  const std::string of_what = config.pipeline.has_stages() ? network_key(config)
                                                           : fmt::format("{}/{}/{}", config.replicas,
                                                                         config.resolved.at("network").dump(),
                                                                         ordered_exchange(config, plan));
  const std::string key = config.folder + "/" + of_what;
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, optimized_order(config, plan)).first->second;
}

Json claims_of(const Scenario& scenario) {
  return scenario.resolved.value("claims", Json::array());
}

const Node& scenario_declaration() {
  static const Node declaration = scenario_options(method_options(), topology_options());
  return declaration;
}

Scenario validated_scenario(const std::string& file, const std::vector<std::string>& assignments,
                            bool is_emulated) {
  return validated_as_written(read_scenario(file, assignments), file, is_emulated);
}

Scenario validated_as_written(Json written, const std::string& file, bool is_emulated) {
  PythonSteps steps;
  Scenario scenario = scenario_of(std::move(written), file, scenario_declaration(), check_topology,
                                  [&](Json& point, const std::string& folder) {
                                    steps.expand(point, folder);
                                    fill_in_library(point);
                                    if (point.contains("workload"))
                                      expand_model(point["workload"], folder, "workload.model");
                                  });
  try {
    check_figures(scenario);
    check_axes(member(member(scenario.written, "fit"), "axes"));
    if (!member(member(scenario.written, "fit"), "unknown").is_null())
      unknowns_of(scenario.written, scenario_declaration());
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
  Seen seen;
  for (Case& config : scenario.cases) {
    try {
      method_named(config.method.name).check(config);
      steps.check(config);
      note_python_content(config, scenario.written);
      fill_in_places(config);
      check_case(config, is_emulated, seen);
      fill_in_sites(config);
    } catch (const InputError& error) {
      throw in_scenario(error, scenario.resolved, config.method.label).in_file(file);
    }
  }
  return scenario;
}

namespace {

// Whose error is that of its class but at an edge (docs/validation/network-model.md, known misses).
std::vector<std::string> edges_of_time_outs(const Case& config) {
  const Json& options = config.method.options;
  const Json buckets = member(options, "buckets"), overlap = member(options, "overlap_backward");
  if (config.network.fidelity != "flow" || config.network.message_time ||
      !config.network.tcp.slow_start_after_idle ||
      options.value("all_reduce", "").rfind("halving-doubling", 0) != 0 || !buckets.is_number() ||
      buckets < 2 || !overlap.is_number() || overlap == 0)
    return {};
  return {fmt::format(
      "{}: overlapped buckets of halving-doubling: where a connection idles for about its time-out (a round "
      "trip and 200 ms) a synchronization may be 24 % off (docs/validation/network-model.md)",
      config.method.label)};
}

// An all-reduce that adds on its way passes on partial sums, which do not fit into a quantized message unless
// they are rounded anew (docs/reference/methods/codecs.md).
std::vector<std::string> sums_in_messages(const Case& config) {
  for (const OperationRule& rule : plan_of(config).rules) {
    if (rule.kind != OperationKind::kAllReduce || rule.collective == "direct" ||
        rule.collective == "parameter-server")
      continue;
    for (const PayloadPart& part : rule.payload)
      if (std::holds_alternative<Quantized>(part.codec.format) && part.codec.reduction == Reduction::kOnce)
        return {fmt::format(
            "{}: the partial sums of all_reduce {} travel in the length of a message of {} and are not "
            "rounded "
            "(reduction \"once\"): fewer bytes than such an all-reduce needs; reduction \"ring\" or "
            "\"two-shot\" rounds them",
            config.method.label, rule.collective, to_string(part.codec))};
  }
  return {};
}

bool counts_compute(const Case& config) {
  return config.resolved.at("workload").at("step_time").contains("flops");
}

// Parameters that compute a token, where the scenario says it in vain, or does not and should.
std::vector<std::string> active_parameters_warnings(const Scenario& scenario) {
  std::vector<std::string> warnings;
  const bool is_written = member(scenario.written, "workload").contains("active_parameters");
  if (is_written && !any_of(scenario.cases, counts_compute))
    warnings.push_back("workload.active_parameters does not count: no step time is one of flops");
  const std::string about =
      scenario.resolved.value("name", "") + " " + scenario.resolved.value("description", "");
  for (const Case& config : scenario.cases)
    if (counts_compute(config) && !config.resolved["workload"].contains("active_parameters"))
      if (const std::string hint = sparse_hint(about, config.workload.parameters, "workload.");
          !hint.empty() && config.workload.active_parameters == config.workload.parameters)
        add_new(hint, warnings);
  return warnings;
}

// Files that a case validates on and trains on: its validation loss is one of what it has seen.
std::vector<std::string> seen_before(const Case& config) {
  std::vector<std::string> warnings;
  const DataSpec& data = config.train->data;
  const std::string key = data.kind == DataSpec::Kind::kText ? "train.data.text" : "train.data.shards";
  if (data.validation.empty()) return warnings;
  std::set<fs::path> trained_on;
  for (const std::string& file : files_of(data.globs, config.folder, key))
    trained_on.insert(fs::weakly_canonical(file));
  for (const std::string& file : files_of(data.validation, config.folder, "train.data.validation"))
    if (trained_on.count(fs::weakly_canonical(file)) > 0)
      warnings.push_back(fmt::format(
          "train.data.validation: {} is in {} too: the validation loss is one of text that was trained on",
          file, key));
  return warnings;
}

// What a case trains on as text, and would rather not.
std::vector<std::string> syntax_as_text(const Case& config) {
  std::vector<std::string> warnings;
  for (const std::string& file : json_lines_in(config))
    warnings.push_back(
        fmt::format("train.data.text: {} holds JSON lines: their syntax is trained on as text; "
                    "python -m longhaul.shards takes the documents",
                    file));
  return warnings;
}

// A rate of "1000Mbps" is not the one that is swept as "1Gbps".
std::vector<std::string> claims_of_no_case(const Scenario& scenario) {
  std::vector<std::string> warnings;
  const Json claims = claims_of(scenario);
  if (claims.empty()) return warnings;
  const std::vector<Json> planned = planned_records(scenario);
  for (std::size_t i = 0; i < claims.size(); ++i)
    if (claims[i].contains("where") && judged_points(claims[i], planned).empty())
      warnings.push_back(
          fmt::format("{}.where: no case of the sweep has these values, so that nothing is judged",
                      element_path("claims", i)));
  return warnings;
}

}  // namespace

std::vector<std::string> scenario_warnings(const Scenario& scenario) {
  std::vector<std::string> warnings = without_effect(scenario);
  const auto add = [&](std::vector<std::string> more) {
    for (std::string& warning : more) add_new(warning, warnings);
  };
  add(active_parameters_warnings(scenario));
  add(claims_of_no_case(scenario));
  std::set<std::string> texts, networks;
  for (const Case& config : scenario.cases) {
    add(method_named(config.method.name).warnings(config));
    add(python_warnings(config));
    add(edges_of_time_outs(config));
    add(sums_in_messages(config));
    if (networks.insert(network_key(config)).second) {
      add(topology_notes(config));
      if (!config.network.variation.traces.empty()) add(doubtful_traces(config, placed_topology(config)));
      if (const std::vector<std::string> outside = network_validity(config).outside; !outside.empty())
        add({"outside of what the network model was measured for: " + join(outside) +
             "; claims on simulated times stay undecided there"});
    }
    if (config.train && texts.insert(config.resolved["train"]["data"].dump()).second) {
      add(seen_before(config));
      add(syntax_as_text(config));
    }
  }
  add(fidelity_advice(scenario));
  return warnings;
}

}  // namespace longhaul
