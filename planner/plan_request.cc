#include "planner/plan_request.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/ranges.h"
#include "core/base/sparse_models.h"
#include "core/base/units.h"
#include "core/scenario/case.h"
#include "core/scenario/model_file.h"
#include "methods/common/python_step.h"
#include "net/library.h"
#include "planner/accelerators.h"
#include "planner/plan_options.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

double parse_peak(const Json& json, const std::string& path) {
  if (json.is_number()) return json;
  try {
    return parse_flops(json);
  } catch (const InputError& error) {
    throw InputError(path, error.parts().found, "a number of FLOP/s, or " + error.parts().allowed);
  }
}

// `hardware`: what the keys that are missing say. `path`: of the accelerator.
NodeHardware parse_hardware(const Json& json, const std::string& path, NodeHardware hardware = {}) {
  if (json.contains("name")) {
    const Accelerator& known = accelerator_named(json["name"]);
    hardware.name = known.name;
    hardware.peak = known.peak;
    hardware.memory = known.memory;
  }
  if (json.contains("peak")) hardware.peak = parse_peak(json["peak"], child_path(path, "peak"));
  if (json.contains("memory")) hardware.memory = parse_bytes(json["memory"]);
  hardware.utilization = json.value("utilization", hardware.utilization);
  hardware.per_node = json.value("per_node", hardware.per_node);
  hardware.price = json.value("price", hardware.price);
  return hardware;
}

// Price and memory apart.
bool is_as_fast(const NodeHardware& a, const NodeHardware& b) {
  return a.peak == b.peak && a.utilization == b.utilization && a.per_node == b.per_node;
}

void read_model(const Json& json, PlanRequest& plan) {
  if (json.contains("model") == json.contains("parameters"))
    throw InputError(json.contains("model") ? "parameters" : "model",
                     json.contains("model") ? "found beside model" : "this key is missing",
                     "model (a preset of longhaul list models, or dimensions) or parameters, one of them");
  if (json.contains("parameters")) {
    plan.parameters = json["parameters"];
  } else {
    plan.model = parse_model(json["model"], "model");
    plan.parameters = plan.model->parameters();
  }
  plan.active_parameters = active_parameters_of(json, plan.model, plan.parameters, "active_parameters");
}

// Whether the plan derives a step time from parameters.
bool counts_compute(const PlanRequest& plan) {
  if (!plan.written.contains("step_time")) return true;
  return any_of(plan.sites, [&](const PlannedSite& site) {
    return site.hardware && !is_as_fast(*site.hardware, plan.hardware);
  });
}

void note_experts(PlanRequest& plan) {
  if (!counts_compute(plan)) return;
  if (plan.active_parameters < plan.parameters) {
    plan.notes.push_back(
        fmt::format("Compute counts the {} active parameters; traffic and memory count all {}",
                    human_count(static_cast<double>(plan.active_parameters)),
                    human_count(static_cast<double>(plan.parameters))));
    return;
  }
  if (plan.written.contains("active_parameters")) return;
  const std::string about = plan.name + " " + plan.written.value("description", "");
  if (const std::string hint = sparse_hint(about, plan.parameters); !hint.empty()) plan.notes.push_back(hint);
}

// `path`: of the accelerator.
double step_seconds(const Json& json, const PlanRequest& plan, const NodeHardware& hardware,
                    const std::string& path) {
  if (json.contains("step_time")) return parse_duration(json["step_time"]);
  if (hardware.peak == 0)
    throw InputError(path, "found neither name nor peak, and no step_time",
                     "name (a known one), peak in FLOP/s, or step_time beside it",
                     "nothing else says how long a step computes");
  return 6. * static_cast<double>(plan.active_parameters) * static_cast<double>(plan.tokens_per_step) /
         (hardware.peak * hardware.utilization * hardware.per_node);
}

EgressPrices parse_egress(const Json& json) {
  EgressPrices prices;
  if (json.is_number()) {
    prices.price = json;
    return prices;
  }
  prices.price = json.at("price");
  const Json of_site = json.value("sites", Json::object());
  for (const auto& [site, price] : of_site.items()) prices.of_site[site] = price;
  return prices;
}

// What a site's nodes compute with, where it is not the plan's accelerator, and for how long.
void read_nodes_of_site(const Json& json, const std::string& path, PlanRequest& plan, PlannedSite& site) {
  const std::string accelerator = child_path(path, "accelerator");
  if (json.contains("accelerator"))
    site.hardware = parse_hardware(json["accelerator"], accelerator, plan.hardware);
  if (site.hardware && site.hardware->per_node != plan.hardware.per_node && plan.way_out_per_accelerator)
    throw InputError(accelerator + ".per_node", "differs beside way_out per-accelerator",
                     "as many everywhere, or way_out shared and the rates of nodes and sites");
  const bool is_own =
      json.contains("step_time") || (site.hardware && !is_as_fast(*site.hardware, plan.hardware));
  if (is_own && !site.hardware) site.hardware = plan.hardware;
  site.step_s = step_seconds(is_own ? json : plan.written, plan, hardware_at(plan, site),
                             is_own ? accelerator : "accelerator");
  plan.step_s = std::max(plan.step_s, site.step_s);
}

void refuse_searched(const Json& tcp, const std::string& path) {
  if (tcp.contains("connections"))
    throw InputError(path + ".connections", "found in a plan", "candidates.connections",
                     "the search varies it");
  if (tcp.contains("hosts"))
    throw InputError(path + ".hosts", "found in a plan", "congestion_control, for all",
                     "the search decides which replicas there are");
}

PlannedSite parse_site(const Json& json, const std::string& path) {
  PlannedSite site;
  site.name = json.at("name").get<std::string>();
  if (site.name.empty()) throw InputError(path + ".name", "found \"\"", "the name of the site");
  site.nodes = json.at("nodes");
  const double both = json.contains("rate") ? parse_rate(json["rate"]) : 0;
  site.up = json.contains("up") ? parse_rate(json["up"]) : both;
  site.down = json.contains("down") ? parse_rate(json["down"]) : both;
  if (json.contains("latitude") != json.contains("longitude"))
    throw InputError(path + (json.contains("latitude") ? ".longitude" : ".latitude"), "this key is missing",
                     "both latitude and longitude, or neither");
  if (json.contains("latitude")) {
    site.latitude = json["latitude"].get<double>();
    site.longitude = json["longitude"].get<double>();
  }
  site.hosts = json.value("hosts", site.hosts);
  return site;
}

// Adds what `read` throws to the mistakes that are said together.
template <typename Read>
void gather(std::vector<InputError>& mistakes, const Read& read) {
  try {
    read();
  } catch (const InputError& error) {
    mistakes.push_back(error);
  }
}

// Between whom each says something: two different sites that there are, no pair twice.
void check_paths(const Json& json, const std::vector<std::string>& sites, std::vector<InputError>& mistakes) {
  std::set<std::pair<std::string, std::string>> pairs;
  for (std::size_t i = 0; i < json.value("paths", Json::array()).size(); ++i) {
    const Json& between = json["paths"][i]["between"];
    const std::string path = element_path("paths", i) + ".between";
    gather(mistakes, [&] {
      if (between.size() != 2 || between[0] == between[1])
        throw InputError(path, "found " + between.dump(), "two different sites");
      for (const Json& site : between)
        if (!contains(sites, site.get<std::string>()))
          throw InputError(path, "found " + site.dump(), "one of sites: " + join(sites),
                           did_you_mean(site, sites));
      const std::string first = between[0], second = between[1];
      if (!pairs.insert(std::minmax(first, second)).second)
        throw InputError(path, between.dump() + " is there twice", "every pair once");
    });
  }
}

void read_sites(const Json& json, PlanRequest& plan) {
  refuse_searched(member(plan.written, "tcp"), "tcp");
  std::vector<InputError> mistakes;
  std::vector<std::string> names;
  int together_in_sites = 0;
  for (std::size_t i = 0; i < json["sites"].size(); ++i) {
    const std::string path = element_path("sites", i);
    const Json& written = json["sites"][i];
    gather(mistakes, [&] {
      const std::string name = written["name"];
      const bool is_new = !contains(names, name);
      if (is_new) names.push_back(name);
      plan.sites.push_back(parse_site(written, path));
      PlannedSite& site = plan.sites.back();
      read_nodes_of_site(written, path, plan, site);
      if (!is_new)
        throw InputError(path + ".name", fmt::format("\"{}\" is there twice", name), "every site once");
      if (written.contains("egress")) plan.egress.of_site[name] = written["egress"];
      together_in_sites += site.nodes;
    });
  }
  if (plan.nodes == 0) plan.nodes = together_in_sites;
  if (plan.nodes != together_in_sites && mistakes.empty())
    mistakes.push_back({"nodes",
                        fmt::format("found {}, but sites have {} together", plan.nodes, together_in_sites),
                        "the same number, or no `nodes`"});
  check_paths(json, names, mistakes);
  if (!mistakes.empty()) throw together(mistakes);
  const Json files = json.value("measurements", Json::array());
  for (const Json& file : files.is_string() ? Json::array({files}) : files)
    plan.measurements.push_back((fs::path(plan.folder) / file.get<std::string>()).string());
}

void read_network(const Json& json, PlanRequest& plan) {
  if (json.contains("network") == json.contains("sites"))
    throw InputError(json.contains("network") ? "sites" : "network",
                     json.contains("network") ? "found beside network" : "this key is missing",
                     "network (as in a scenario) or sites, one of them");
  if (json.contains("sites")) {
    if (plan.written.contains("fit"))
      throw InputError("fit", "found beside sites", "network, as longhaul fit has written it",
                       "what was found is of that network");
    return read_sites(json, plan);
  }
  plan.step_s = step_seconds(json, plan, plan.hardware, "accelerator");
  for (const char* key : {"paths", "measurements", "node_rate", "inside", "inflation"})
    if (plan.written.contains(key))
      throw InputError(key, "found beside network", "sites", "it says how sites are joined");
  if (plan.written.contains("tcp")) throw InputError("tcp", "found beside network", "network.tcp");
  if (plan.written["network"].contains("rank_order"))
    throw InputError("network.rank_order", "found in a plan", "candidates.rank_orders",
                     "the search varies it");
  refuse_searched(member(plan.written["network"], "tcp"), "network.tcp");
  if (plan.nodes == 0)
    throw InputError("nodes", "this key is missing", "an integer of at least 2",
                     "each has a replica of the model, or a stage of one");
}

void read_tokens(const Json& json, PlanRequest& plan) {
  if (json.contains("tokens")) plan.tokens = json["tokens"].get<std::int64_t>();
  if (json.contains("target")) {
    plan.target = LossTarget{{}, json["target"]["loss"]};
    for (const Json& run : json["target"]["runs"])
      plan.target->runs.push_back((fs::path(plan.folder) / run.get<std::string>()).string());
  }
  if (!plan.tokens && !plan.target)
    throw InputError("tokens", "this key is missing", "the tokens of the whole training",
                     "or target: a loss, and runs whose curves say how many tokens it takes");
}

// What a plan should keep, and what counts among those that do.
void read_limits(const Json& json, PlanRequest& plan) {
  if (json.contains("deadline")) plan.deadline_s = parse_duration(json["deadline"]);
  if (json.contains("budget")) plan.budget = json["budget"].get<double>();
  if (plan.budget && !has_prices(plan))
    throw InputError("budget", "found without prices", "accelerator.price or egress, or no budget");
  const bool has_limit = plan.deadline_s || plan.budget;
  plan.min_utilization = json.value("min_utilization", has_limit ? 0 : 0.8);
  const std::string prefer = json.value("prefer", plan.deadline_s && has_prices(plan) ? "money" : "time");
  if (prefer == "money" && !has_prices(plan))
    throw InputError("prefer", "found \"money\" without prices",
                     "accelerator.price or egress, or \"time\" or \"bytes\"", "else all plans cost nothing");
  plan.prefer = prefer == "money"   ? Preference::kMoney
                : prefer == "bytes" ? Preference::kBytes
                                    : Preference::kTime;
}

void check_faults(const Json& json, PlanRequest& plan) {
  for (const char* key : {"recovery", "fault_draws"})
    if (plan.written.contains(key) && !plan.written.contains("faults"))
      throw InputError(key, "found without faults", fmt::format("faults beside it, or no {}", key));
  for (std::size_t i = 0; i < json.value("faults", Json::array()).size(); ++i)
    if (!json["faults"][i].contains("every"))
      throw InputError(element_path("faults", i) + ".every", "this key is missing", "a duration",
                       "a plan says what faults cost that come again and again");
}

// What a library decides where the plan's candidates do not say.
void take_from_library(PlanRequest& plan) {
  const Library& library = library_named(plan.library);
  if (library.is_plain()) return;
  const Json written = member(plan.written, "candidates");
  if (member(written, "all_reduce").is_null()) plan.candidates["all_reduce"] = {kLibraryChoice};
  if (member(written, "connections").is_null()) plan.candidates["connections"] = {library.connections};
}

void read_resolved(const Json& json, PlanRequest& plan) {
  plan.name = json.value("name", fs::path(plan.file).stem().string());
  plan.seed = json.at("seed");
  plan.nodes = json.value("nodes", 0);
  plan.tokens_per_step = json.at("tokens_per_step");
  plan.hardware = parse_hardware(json.at("accelerator"), "accelerator");
  plan.currency = json.at("currency").get<std::string>();
  plan.egress = parse_egress(json.at("egress"));
  plan.way_out_per_accelerator = json.at("way_out") == "per-accelerator";
  if (json.at("connections_gain").is_number()) plan.connections_gain = json["connections_gain"].get<double>();
  plan.candidates = json.at("candidates");
  plan.library = json.at("library").get<std::string>();
  take_from_library(plan);
  for (const char* key : {"inside", "node_rate", "inflation"}) plan.joins[key] = json.at(key);
  plan.most_replays = json.at("replays");
  plan.most_verified_segments = json.at("verify_segments");
  plan.fault_draws = json.at("fault_draws");
  std::vector<InputError> mistakes;
  const auto part = [&](void (*read)(const Json&, PlanRequest&)) {
    gather(mistakes, [&] { read(json, plan); });
  };
  part(read_model);
  part(check_faults);
  const std::size_t before = mistakes.size();
  part(read_network);
  if (mistakes.size() == before) part(read_limits);  // which counts what the network's nodes cost
  part(read_tokens);
  if (!mistakes.empty()) throw together(mistakes);
  note_experts(plan);
}

// As the table has them. Before the choice of the declaration, which knows only names: peak and memory may be
// given instead.
void name_accelerators(Json& written) {
  const auto rename = [](Json& place, const std::string& path) {
    if (!member(member(place, "accelerator"), "name").is_string()) return;
    Json& name = place["accelerator"]["name"];
    name = accelerator_meant(name);
    try {
      accelerator_named(name);
    } catch (const InputError& error) {
      InputErrorParts parts = error.parts();
      parts.path = child_path(path, parts.path);
      throw InputError(parts);
    }
  };
  rename(written, "");
  if (!member(written, "sites").is_array()) return;
  for (std::size_t i = 0; i < written["sites"].size(); ++i)
    rename(written["sites"][i], element_path("sites", i));
}

}  // namespace

const NodeHardware& hardware_at(const PlanRequest& plan, const PlannedSite& site) {
  return site.hardware ? *site.hardware : plan.hardware;
}

bool steps_differ(const PlanRequest& plan) {
  return any_of(plan.sites, [&](const PlannedSite& site) { return site.step_s < plan.step_s; });
}

int accelerators_of(const PlanRequest& plan) {
  int count = plan.sites.empty() ? plan.nodes * plan.hardware.per_node : 0;
  for (const PlannedSite& site : plan.sites) count += site.nodes * hardware_at(plan, site).per_node;
  return count;
}

double price_per_hour(const PlanRequest& plan) {
  double price = plan.sites.empty() ? plan.nodes * plan.hardware.per_node * plan.hardware.price : 0;
  for (const PlannedSite& site : plan.sites) {
    const NodeHardware& hardware = hardware_at(plan, site);
    price += site.nodes * hardware.per_node * hardware.price;
  }
  return price;
}

double node_price_per_hour(const PlanRequest& plan, const std::string& site) {
  if (plan.sites.empty()) return plan.hardware.per_node * plan.hardware.price;
  const auto found = find_if(plan.sites, [&](const PlannedSite& one) { return one.name == site; });
  const NodeHardware& hardware = hardware_at(plan, found == plan.sites.end() ? plan.sites.front() : *found);
  return hardware.per_node * hardware.price;
}

bool has_prices(const PlanRequest& plan) {
  if (price_per_hour(plan) > 0 || plan.egress.price > 0) return true;
  return any_of(plan.egress.of_site, [](const auto& site) { return site.second > 0; });
}

double EgressPrices::of(const std::string& site) const {
  const auto found = of_site.find(site);
  return found == of_site.end() ? price : found->second;
}

namespace {

// Replays run in this process, which has no ns-3.
void check_fidelity(const PlanRequest& plan) {
  if (member(member(plan.written, "network"), "fidelity") == "packet")
    throw InputError("network.fidelity", "found \"packet\"", "flow, analytic, linux",
                     "a plan has dozens of replays: linux sends every packet too, a hundred times as fast; "
                     "longhaul run takes the plan's scenario.json with packet");
}

}  // namespace

PlanRequest read_plan(const std::string& file, const Node& scenario) {
  PlanRequest plan;
  plan.file = file;
  plan.folder = fs::absolute(fs::path(file)).parent_path().string();
  const std::optional<std::string> text = read_file(file);
  if (!text)
    throw InputError(
        {file, "", why_unreadable(file), "a plan file (JSON)", "see scenarios/plans/ for examples"});
  try {
    plan.written = parse_json(*text, JsonComments::kAllowed);
    if (!plan.written.is_object()) throw InputError("", "found " + kind_of(plan.written), "a JSON object");
    if (plan.written.contains("methods") && plan.written.contains("workload"))
      throw InputError("methods", "found in a plan file", "a plan",
                       "this is a scenario: longhaul run or longhaul check takes it");
    name_accelerators(plan.written);
    if (member(plan.written, "candidates").is_object())
      PythonSteps().expand(plan.written["candidates"], plan.folder, "candidates");
    expand_model(plan.written, plan.folder, "model");
    read_resolved(resolve(plan_options(scenario), plan.written, ""), plan);
    check_fidelity(plan);
  } catch (const Json::exception& error) {
    throw in_our_words(error).in_file(file);
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
  return plan;
}

}  // namespace longhaul
