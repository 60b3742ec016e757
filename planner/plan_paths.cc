#include "planner/plan_paths.h"

#include <fmt/core.h>

#include <optional>
#include <regex>

#include "core/base/json.h"
#include "core/base/ranges.h"
#include "planner/candidates.h"
#include "planner/pipelines.h"
#include "planner/plan_request.h"

namespace longhaul {
namespace {

const std::regex kScenarioKey(R"(\b(workload|network|pipeline|methods?)(\[\d+\])?\.[a-z][a-z_.]*[a-z])");

// What follows `key` in `path`, as ".cut" or "[0].cut"; nothing where the path is another key's.
std::optional<std::string> behind(const std::string& path, const std::string& key) {
  if (path.rfind(key, 0) != 0) return std::nullopt;
  const std::string rest = path.substr(key.size());
  if (!rest.empty() && rest[0] != '.' && rest[0] != '[') return std::nullopt;
  return rest;
}

const Json* written_candidates(const PlanRequest& plan, const char* key) {
  const auto given = plan.written.find("candidates");
  if (given == plan.written.end() || !given->contains(key)) return nullptr;
  return &(*given)[key];
}

// `rest`: of the method's own key. H and the collective are varied for all methods whose object says neither.
std::string of_method(const std::string& rest, const PlanRequest& plan, const Candidate& candidate) {
  const Json* methods = written_candidates(plan, "methods");
  const std::string key = rest.empty() ? "" : rest.substr(1);
  const bool is_own = methods && member(methods->at(candidate.number), key.c_str()) != Json();
  if (!is_own && (key == "inner_steps" || key == "all_reduce")) return "candidates." + key;
  if (!methods) return "candidates.methods";
  const std::string path = element_path("candidates.methods", candidate.number);
  return key == "name" && methods->at(candidate.number).is_string() ? path : path + rest;
}

// Of candidates.pipelines the first that has the candidate's stages, or leaves them open.
std::string of_pipeline(const std::string& rest, const PlanRequest& plan, const Candidate& candidate) {
  const Json* pipelines = written_candidates(plan, "pipelines");
  if (!pipelines) return "candidates.pipelines";
  const Json chosen = member(candidate.scenario, "pipeline");
  for (std::size_t i = 0; i < pipelines->size(); ++i) {
    const auto is_chosen = [&](const auto& item) {
      return member(chosen, item.key().c_str()) == item.value();
    };
    bool is_it = true;
    for (auto item = (*pipelines)[i].begin(); item != (*pipelines)[i].end(); ++item) is_it &= is_chosen(item);
    if (is_it) return element_path("candidates.pipelines", i) + rest;
  }
  return "candidates.pipelines";
}

std::string of_network(const std::string& path, const PlanRequest& plan) {
  if (behind(path, "network.rank_order")) return "candidates.rank_orders";
  if (behind(path, "network.tcp.connections")) return "candidates.connections";
  if (behind(path, "network.tcp.slow_start_after_idle") && written_candidates(plan, "slow_start_after_idle"))
    return "candidates.slow_start_after_idle";
  return plan.sites.empty() ? path : "sites";
}

std::string of_step_time(const std::string& rest, const PlanRequest& plan) {
  return plan.written.contains("step_time") ? "step_time" + rest : "accelerator";
}

// A replica has several nodes where they are stages of it.
std::string in_nodes(const std::string& found, const PlanRequest& plan, const Candidate& candidate) {
  const int stages = stages_of(member(candidate.scenario, "pipeline"));
  if (stages == 1) return found;
  return found +
         fmt::format(" ({} replicas: {} nodes, {} stages each)", plan.nodes / stages, plan.nodes, stages);
}

std::string words_in_plan(const std::string& words, const PlanRequest& plan, const Candidate& candidate) {
  std::string said;
  auto from = words.begin();
  for (std::sregex_iterator key(words.begin(), words.end(), kScenarioKey), end; key != end; ++key) {
    said.append(from, (*key)[0].first).append(path_in_plan(key->str(), plan, candidate));
    from = (*key)[0].second;
  }
  return said.append(from, words.end());
}

}  // namespace

std::string path_in_plan(const std::string& path, const PlanRequest& plan, const Candidate& candidate) {
  if (path == "replicas")
    return plan.sites.empty() || plan.written.contains("nodes") ? "nodes" : "sites[].nodes";
  for (const char* method : {"methods[0]", "method"})
    if (const auto rest = behind(path, method)) return of_method(*rest, plan, candidate);
  if (const auto rest = behind(path, "pipeline")) return of_pipeline(*rest, plan, candidate);
  if (behind(path, "network")) return of_network(path, plan);
  if (const auto rest = behind(path, "workload.step_time")) return of_step_time(*rest, plan);
  for (const auto& [key, of_plan] : {std::pair("workload.wire", "candidates.wires"),
                                     {"workload.tokens", "tokens_per_step"},
                                     {"workload.accelerators", "accelerator.per_node"}})
    if (behind(path, key)) return of_plan;
  for (const char* key : {"workload.steps", "workload.total_tokens"})
    if (behind(path, key)) return plan.written.contains("tokens") ? "tokens" : "target";
  for (const char* key : {"model", "parameters", "active_parameters"})
    if (const auto rest = behind(path, std::string("workload.") + key)) return key + *rest;
  return path;
}

InputError in_plan(const InputError& error, const PlanRequest& plan, const Candidate& candidate) {
  const auto translated = [&](InputErrorParts parts) {
    for (std::string InputErrorParts::*words :
         {&InputErrorParts::found, &InputErrorParts::allowed, &InputErrorParts::hint})
      parts.*words = words_in_plan(parts.*words, plan, candidate);
    if (parts.path == "replicas") parts.found = in_nodes(parts.found, plan, candidate);
    parts.path = path_in_plan(parts.path, plan, candidate);
    return parts;
  };
  InputErrorParts parts = translated(error.parts());
  for (InputErrorParts& other : parts.others) other = translated(other);
  return InputError(parts);
}

}  // namespace longhaul
