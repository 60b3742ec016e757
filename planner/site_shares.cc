#include "planner/site_shares.h"

#include <fmt/core.h>

#include <filesystem>
#include <numeric>

#include "analysis/run_files.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "planner/candidates.h"
#include "planner/choice.h"
#include "planner/evaluation.h"
#include "planner/plan_request.h"
#include "planner/planned_network.h"
#include "planner/replay_task.h"
#include "planner/search.h"
#include "planner/site_steps.h"
#include "planner/token_needs.h"
#include "replay/placement/optimized_order.h"

namespace longhaul {
namespace {

constexpr std::size_t kMostLeftOut = 8;

// The plan whose only candidate is the choice.
PlanRequest of_choice_alone(PlanRequest plan, const Candidate& candidate) {
  const Json& choice = candidate.scenario;
  plan.written["candidates"]["methods"] = choice.at("methods");
  Json& pipelines = plan.candidates["pipelines"] =
      Json::array({choice.value("pipeline", Json{{"stages", 1}})});
  if (choice.contains("pipeline"))
    for (const char* key : {"stages", "microbatches"}) pipelines[0].erase(key);
  plan.candidates["wires"] = {choice.at("workload").at("wire")};
  plan.candidates["connections"] = {choice.at("network").at("tcp").at("connections").get<int>() /
                                    (plan.way_out_per_accelerator ? plan.hardware.per_node : 1)};
  plan.candidates["slow_start_after_idle"] = {
      choice.at("network").at("tcp").value("slow_start_after_idle", true)};
  plan.candidates["batches"] = {candidate.has_batches_by_speed ? "by-speed" : "equal"};
  plan.most_replays = 1;
  return plan;
}

// That without a site.
PlanRequest without_site(const PlanRequest& whole, const PlannedSite& site, const Candidate& candidate) {
  PlanRequest plan = of_choice_alone(whole, candidate);
  const std::string name = site.name;
  plan.nodes -= site.nodes;
  plan.sites.erase(find_if(plan.sites, [&](const PlannedSite& one) { return one.name == name; }));
  plan.step_s = 0;
  for (const PlannedSite& one : plan.sites) plan.step_s = std::max(plan.step_s, one.step_s);
  plan.egress.of_site.erase(name);
  Json paths = Json::array();
  for (const Json& path : plan.written.value("paths", Json::array()))
    if (!contains(path.at("between"), Json(name))) paths.push_back(path);
  plan.written["paths"] = paths;
  return plan;
}

// Of a plan whose only method is the choice's, as the plan with all its methods has it.
std::string path_among_all(const std::string& path, const Candidate& choice) {
  const std::string only = element_path("candidates.methods", 0);
  if (path.rfind(only, 0) != 0) return path;
  return element_path("candidates.methods", choice.number) + path.substr(only.size());
}

void leave_out(const PlanRequest& plan, const PlannedSite& site, const Candidate& choice,
               const TokenNeeds& needs, const PlanTools& tools, const std::string& folder, SiteShare& share) {
  if (plan.nodes - site.nodes < 2) {
    share.why_not = "one node is no plan";
    return;
  }
  const PlanRequest rest = without_site(plan, site, choice);
  const PlannedNetwork network = planned_network(rest, folder, "without-");
  for (const auto& [name, text] : network.files) write_file(folder + "/" + name, text);
  try {
    share.without = search_plan(rest, network, needs, tools).evaluations.front();
  } catch (const InputError& error) {
    share.why_not = path_among_all(error.parts().path, choice) + ": " + error.parts().found;
  }
  for (const auto& [name, text] : network.files) std::filesystem::remove(folder + "/" + name);
}

}  // namespace

std::vector<SiteShare> site_shares(const PlanRequest& plan, const SearchResult& search,
                                   const TokenNeeds& needs, const PlanTools& tools,
                                   const std::string& folder) {
  const Evaluation& choice = search.evaluations.front();
  const Case& config = choice.config;
  const std::vector<int> site_of = placed_topology(config).site_of();
  std::vector<SiteShare> shares;
  for (const PlannedSite& site : plan.sites) {
    const NodeHardware& hardware = hardware_at(plan, site);
    const auto number = std::find(choice.traffic.sites.begin(), choice.traffic.sites.end(), site.name) -
                        choice.traffic.sites.begin();
    double computed = 0, tokens = 0;
    SiteShare share;
    share.step_s = site.step_s;
    for (std::size_t rank = 0; rank < site_of.size(); ++rank) {
      if (site_of[rank] != number) continue;
      computed += computed_steps(config, static_cast<int>(rank)) / site.nodes;
      if (choice.node_tokens.empty()) continue;
      tokens += static_cast<double>(choice.node_tokens[rank]) / site.nodes;
      share.step_s = site.step_s * tokens / static_cast<double>(plan.tokens_per_step);
    }
    share.tokens = tokens > 0 ? tokens : static_cast<double>(plan.tokens_per_step);
    share.name = site.name;
    share.nodes = site.nodes;
    share.accelerators = site.nodes * hardware.per_node;
    share.accelerator = hardware.name;
    share.computes = choice.step_s * computed / choice.total_s();
    share.rent = choice.total_s() / 3600 * share.accelerators * hardware.price;
    share.egress_cost = choice.traffic.leaving[as_index(number)] / 1e9 * plan.egress.of(site.name);
    shares.push_back(share);
  }
  std::vector<std::size_t> small(shares.size());
  std::iota(small.begin(), small.end(), 0);
  stable_sort(small, [&](std::size_t a, std::size_t b) { return shares[a].nodes < shares[b].nodes; });
  if (small.size() > kMostLeftOut) small.resize(kMostLeftOut);
  if (shares.size() > 1)
    for (const std::size_t site : small)
      leave_out(plan, plan.sites[site], choice.candidate, needs, tools, folder, shares[site]);
  return shares;
}

std::optional<Evaluation> with_batches_by_speed(const PlanRequest& plan, const PlannedNetwork& network,
                                                const SearchResult& search, const TokenNeeds& needs,
                                                const PlanTools& tools) {
  const Candidate& choice = search.evaluations.front().candidate;
  if (!steps_differ(plan) || plan.candidates.contains("batches")) return std::nullopt;
  PlanRequest by_speed = of_choice_alone(plan, choice);
  by_speed.candidates["batches"] = {"by-speed"};
  try {
    const Evaluation found = search_plan(by_speed, network, needs, tools).evaluations.front();
    if (found.candidate.has_batches_by_speed && found.total_s() < search.evaluations.front().total_s())
      return found;
  } catch (const InputError&) {  // it is only a proposal
  }
  return std::nullopt;
}

std::string batches_in_words(const std::vector<SiteShare>& sites) {
  std::vector<std::string> words;
  for (const SiteShare& site : sites)
    words.push_back(fmt::format("{} at {}", human_count(site.tokens), site.name));
  return fmt::format(
      "Batches by speed: a node's step has so many tokens: {}. What the nodes send is to be weighed by its "
      "tokens; "
      "with all-reduced gradients that is the same training, of other methods no replay knows the loss. "
      "launch.sh gives each rank its number.",
      join(words));
}

const SiteShare* best_left_out(const std::vector<SiteShare>& sites, const SearchResult& search) {
  const Evaluation* best = &search.evaluations.front();
  const SiteShare* found = nullptr;
  const ChoiceRule& rule = search.rule;
  for (const SiteShare& site : sites) {
    if (!site.without) continue;
    const Evaluation& one = *site.without;
    const double same = 1 + kSameToAPlanner, seconds = one.total_s() / best->total_s(),
                 money = best->cost() > 0 ? one.cost() / best->cost() : 1;
    const bool gains = seconds <= same && money <= same && std::min(seconds, money) * same < 1;
    if (rule.excess(one) < rule.excess(*best) || (rule.excess(one) == rule.excess(*best) && gains)) {
      best = &one;
      found = &site;
    }
  }
  return found;
}

}  // namespace longhaul
