#include "planner/candidates.h"

#include <fmt/core.h>

#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "methods/common/python_step.h"
#include "methods/common/registry.h"
#include "net/library.h"
#include "net/topologies/registry.h"
#include "planner/pipelines.h"
#include "planner/plan_request.h"
#include "planner/planned_network.h"

namespace longhaul {
namespace {

// The candidate methods as a scenario writes them.
std::vector<Json> written_methods(const PlanRequest& plan) {
  const Json given = member(plan.written, "candidates");
  const Json& methods = given.contains("methods") ? given["methods"] : plan.candidates.at("methods");
  std::vector<Json> all;
  for (const Json& method : methods) all.push_back(method.is_string() ? Json{{"name", method}} : method);
  return all;
}

const Node* option_of(const std::string& method, const char* key) {
  const std::vector<Node>& options = method_named(method).options;
  const auto found = find_if(options, [&](const Node& option) { return option.key == key; });
  return found == options.end() ? nullptr : &*found;
}

bool has_option(const std::string& method, const char* key) {
  return option_of(method, key) != nullptr;
}

// Whether the method quantizes by default without keeping what that leaves out. With error feedback its
// compression is the method itself.
bool quantizes_by_the_way(const std::string& method) {
  const Node* codec = option_of(method, "codec");
  if (!codec || !codec->fallback.is_string() || codec->fallback == "wire") return false;
  const Node* feedback = option_of(method, "error_feedback");
  return feedback && feedback->fallback == "none";
}

// The values of one axis for this method: those of the plan, the one that its object gives, or null alone
// where the method has no such option. A step in Python that reads rows has an all-gather alone.
std::vector<Json> axis(const Json& method, const std::string& key, const Json& values) {
  if (!has_option(method["name"], key.c_str()) || (key == "all_reduce" && !rows_read_by(method).empty()))
    return {Json()};
  if (method.contains(key)) return {method[key]};
  if (key == "all_reduce") {  // a mean that is rounded on its way is of one all-reduce alone
    const Node* option = option_of(method["name"], "reduction");
    const std::string reduction = option ? method.value("reduction", plain(option->fallback)) : "once";
    if (reduction != "once") return {reduction == "ring" ? "ring" : "direct"};
  }
  return values.get<std::vector<Json>>();
}

std::vector<Json> rank_orders(const PlanRequest& plan, const PlannedNetwork& network, const Json& method,
                              const Json& pipeline) {
  const std::string topology = network.section.at("topology").begin().key();
  const bool are_drawn = has_option(method["name"], "group_size");  // the groups: no order of ranks matters
  if (!topology_named(topology).has_sites || (pipeline.is_null() && are_drawn)) return {Json()};
  if (plan.candidates.contains("rank_orders")) return plan.candidates["rank_orders"].get<std::vector<Json>>();
  return {"blocks", "optimized"};
}

// Whether batches follow the nodes' speeds, which only steps that differ have to say. A pipeline's batches
// are its replicas'; where slow replicas take fewer steps they have the batch of the others.
std::vector<bool> batches_by_speed(const PlanRequest& plan, const Json& method, const Json& pipeline) {
  const bool may_differ = steps_differ(plan) && pipeline.is_null() && member(method, "dynamic_steps") != true;
  if (!may_differ) return {false};
  if (!plan.candidates.contains("batches")) return {false};
  std::vector<bool> all;
  for (const Json& word : plan.candidates["batches"]) all.push_back(word == "by-speed");
  return all;
}

// As the method's object says it, beside what is varied.
std::string method_in_words(const Json& method) {
  std::string words = method.value("label", method["name"].get<std::string>());
  if (method.contains("label")) return words;
  for (const auto& [key, value] : method.items())
    if (key != "name" && key != "inner_steps" && key != "all_reduce" && key != "codec")
      words += value == true ? " " + key : fmt::format(" {} {}", key, plain(value));
  return words;
}

class Combiner {
 public:
  Combiner(const PlanRequest& plan, const PlannedNetwork& network)
      : plan_(plan), network_(network), pipelines_(pipelines_of(plan)) {}

  std::vector<Candidate> of(const Json& method, std::int64_t tokens) {
    std::vector<Candidate> all;
    const Json& axes = plan_.candidates;
    for (const Json& pipeline : pipelines_)
      for (const Json& wire : axes.at("wires"))
        for (const Json& collective : axis(method, "all_reduce", axes.at("all_reduce")))
          for (const Json& connections : axes.at("connections"))
            for (const Json& starts_slowly : axes.at("slow_start_after_idle"))
              for (const Json& order : rank_orders(plan_, network_, method, pipeline))
                for (const Json& inner : axis(method, "inner_steps", axes.at("inner_steps"))) {
                  Candidate one =
                      candidate(method, tokens, pipeline, wire, collective, connections, order, inner);
                  if (starts_slowly == false) keep_windows(one);
                  for (const bool by_speed : batches_by_speed(plan_, method, pipeline)) {
                    all.push_back(one);
                    if (!by_speed) continue;
                    all.back().has_batches_by_speed = true;
                    all.back().ways.emplace_back("batches by speed");
                  }
                }
    return all;
  }

 private:
  Candidate candidate(Json method, std::int64_t tokens, const Json& pipeline, const Json& wire,
                      const Json& collective, const Json& connections, const Json& order,
                      const Json& inner) const {
    Candidate candidate;
    candidate.method = method["name"].get<std::string>();
    candidate.label = method_in_words(method);
    candidate.tokens = tokens;
    if (quantizes_by_the_way(candidate.method) && !method.contains("codec")) method["codec"] = "wire";
    if (!inner.is_null()) {
      candidate.inner_steps = inner;
      method["inner_steps"] = inner;
    }
    if (!pipeline.is_null()) candidate.ways.push_back(pipeline_in_words(pipeline));
    if (!collective.is_null()) {
      method["all_reduce"] = collective;
      candidate.ways.push_back(collective == kLibraryChoice ? plan_.library + "'s choice"
                                                            : collective.get<std::string>());
    }
    candidate.ways.push_back(counted(connections, "connection"));
    if (!order.is_null()) candidate.ways.push_back(plain(order) + " order");
    candidate.scenario = scenario(method, tokens, stages_of(pipeline), wire, connections, order);
    if (!pipeline.is_null()) candidate.scenario["pipeline"] = pipeline;
    return candidate;
  }

  // Said where the plan's network does not say it for all.
  void keep_windows(Candidate& candidate) const {
    Json& tcp = candidate.scenario["network"]["tcp"];
    const bool is_of_all = tcp.value("slow_start_after_idle", true) == false;
    tcp["slow_start_after_idle"] = false;
    if (!is_of_all) candidate.ways.push_back("windows kept");
  }

  // A replica has the batch, and as long to compute, as all nodes that it is on.
  Json scenario(const Json& method, std::int64_t tokens, int stages, const Json& wire,
                const Json& connections, const Json& order) const {
    Json workload = Json::object();
    for (const char* key : {"model", "parameters"})
      if (plan_.written.contains(key)) workload[key] = plan_.written[key];
    workload["wire"] = wire;
    workload["tokens"] = plan_.tokens_per_step * stages;
    workload["total_tokens"] = tokens;
    const NodeHardware& hardware = plan_.hardware;
    if (plan_.written.contains("step_time") ||
        any_of(plan_.sites, [](const PlannedSite& site) { return site.hardware.has_value(); })) {
      workload["step_time"] = {{"constant", format_number(plan_.step_s * stages) + "s"}};
    } else {
      workload["step_time"] = {
          {"flops", {{"peak", hardware.peak * hardware.per_node}, {"utilisation", hardware.utilization}}}};
      if (plan_.written.contains("active_parameters"))
        workload["active_parameters"] = plan_.written["active_parameters"];
    }
    if (const int each = accelerators_of(plan_) / plan_.nodes;
        each > 1 && each * plan_.nodes == accelerators_of(plan_))
      workload["accelerators"] = each;
    Json network = network_.section;
    if (plan_.library != "plain") network["library"] = plan_.library;
    if (!order.is_null()) network["rank_order"] = order;
    network["tcp"]["connections"] = connections.get<int>() * network_.per_connection;
    return {{"seed", plan_.seed},
            {"replicas", plan_.nodes / stages},
            {"methods", Json::array({method})},
            {"workload", workload},
            {"network", network}};
  }

  const PlanRequest& plan_;
  const PlannedNetwork& network_;
  const std::vector<Json> pipelines_;
};

// "e3m0 4-bit" of quantized numbers in the usual blocks.
std::string codec_in_words(const Codec& codec) {
  std::string words = to_string(codec);
  const auto* quantized = std::get_if<Quantized>(&codec.format);
  if (!quantized) return words;
  words.insert(to_string(quantized->numbers).size(),
               fmt::format(" {}-bit", facts_of(quantized->numbers).bits));
  const std::string usual = fmt::format(" in blocks of {}", Quantized().block);
  if (const std::size_t place = words.find(usual); place != std::string::npos)
    words.erase(place, usual.size());
  return words;
}

// The number formats of a plan's messages: "bf16", "e3m0 4-bit", "top-k 64 of 4096, two_bit".
std::string what_travels(const OperationPlan& plan, bool briefly) {
  const auto stays = [](const OperationRule& rule) { return rule.last_step == 0; };
  const bool warms_up =
      briefly && any_of(plan.rules, stays) && !std::all_of(plan.rules.begin(), plan.rules.end(), stays);
  std::vector<std::string> formats;
  for (const OperationRule& rule : plan.rules)
    for (const PayloadPart& part : rule.payload)
      if (!warms_up || stays(rule)) add_new(codec_in_words(part.codec), formats);
  if (formats.empty()) return "nothing travels";
  return join(formats, " and ") + (warms_up ? " after a warm-up" : "");
}

}  // namespace

void name_candidate(const OperationPlan& plan, bool briefly, Candidate& candidate) {
  std::vector<std::string> recipe = {candidate.label, what_travels(plan, briefly)};
  recipe.insert(recipe.end(), candidate.ways.begin(), candidate.ways.end());
  candidate.recipe = join(recipe);
  if (candidate.inner_steps > 0)
    recipe.insert(recipe.begin() + 1, "H = " + std::to_string(candidate.inner_steps));
  candidate.words = join(recipe);
}

std::vector<std::string> candidate_methods(const PlanRequest& plan) {
  std::vector<std::string> names;
  for (const Json& method : written_methods(plan)) add_new(method["name"].get<std::string>(), names);
  return names;
}

std::vector<Candidate> candidates_of(const PlanRequest& plan, const PlannedNetwork& network,
                                     const std::map<std::string, std::int64_t>& tokens_of) {
  Combiner combiner(plan, network);
  std::vector<Candidate> all;
  const std::vector<Json> methods = written_methods(plan);
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const auto tokens = tokens_of.find(methods[i]["name"]);
    if (tokens == tokens_of.end()) continue;
    for (Candidate& candidate : combiner.of(methods[i], tokens->second)) {
      candidate.number = i;
      all.push_back(std::move(candidate));
    }
  }
  return all;
}

}  // namespace longhaul
