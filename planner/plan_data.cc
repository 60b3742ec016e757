#include "planner/plan_data.h"

#include "analysis/report/report.h"
#include "core/base/ranges.h"
#include "planner/answer.h"
#include "planner/connection_gain.h"
#include "planner/evaluation.h"
#include "planner/faulty_times.h"
#include "planner/memory_need.h"
#include "planner/plan_request.h"
#include "planner/plan_result.h"
#include "planner/plan_text.h"
#include "planner/planned_network.h"
#include "planner/rank_places.h"
#include "planner/search.h"
#include "planner/sensitivity.h"
#include "planner/site_shares.h"
#include "planner/verification.h"

namespace longhaul {

// Defined by longhaul_embed: the files of planner/page/, by name.
const std::map<std::string, std::string_view>& plan_page_files();

namespace {

Json entry(const PlanRequest& plan, const Evaluation& evaluation, bool on_front) {
  Json leaving = Json::object();
  for (std::size_t i = 0; i < evaluation.traffic.sites.size(); ++i)
    leaving[evaluation.traffic.sites[i]] = evaluation.traffic.leaving[i];
  Json entry = {{"words", evaluation.candidate.words},
                {"method", evaluation.candidate.method},
                {"inner_steps", evaluation.candidate.inner_steps},
                {"is_on_front", on_front},
                {"left_out", evaluation.left_out},
                {"tokens", evaluation.candidate.tokens},
                {"steps", evaluation.config.steps()},
                {"replayed_steps", evaluation.time.replayed_steps},
                {"is_exact", evaluation.time.is_exact},
                {"time_s", evaluation.total_s()},
                {"time_low_s", evaluation.low_s()},
                {"time_high_s", evaluation.high_s()},
                {"stages", evaluation.config.pipeline.stages},
                {"compute_s", evaluation.compute_s},
                {"bubble_s", evaluation.bubble_s},
                {"step_s", evaluation.step_s},
                {"utilization", evaluation.utilization},
                {"accelerator_hours", accelerator_hours(plan, evaluation)},
                {"cost", evaluation.cost()},
                {"compute_cost", evaluation.compute_cost},
                {"egress_cost", evaluation.egress_cost},
                {"bytes_leaving_sites", evaluation.bytes()},
                {"leaving", leaving}};
  if (evaluation.fit_half_width_s > 0) entry["fit_half_width_s"] = evaluation.fit_half_width_s;
  return entry;
}

Json sites_of(const PlanRequest& plan, const PlanResult& result) {
  Json sites = Json::array();
  for (const SiteShare& site : result.sites)
    sites.push_back({{"site", site.name},
                     {"nodes", site.nodes},
                     {"accelerators", site.accelerators},
                     {"accelerator", site.accelerator},
                     {"tokens_per_step", site.tokens},
                     {"step_s", site.step_s},
                     {"computes", site.computes},
                     {"rent", site.rent},
                     {"egress_cost", site.egress_cost},
                     {"without", site.without ? entry(plan, *site.without, false) : Json()},
                     {"why_not", site.why_not}});
  return sites;
}

}  // namespace

double accelerator_hours(const PlanRequest& plan, const Evaluation& evaluation) {
  return evaluation.total_s() / 3600 * accelerators_of(plan);
}

namespace {

Json verification_data(const PlanResult& result) {
  if (!result.verification) return Json();
  const Verification& verification = *result.verification;
  Json plans = Json::array();
  for (const VerifiedTime& one : verification.plans) {
    plans.push_back({{"words", one.words},
                     {"estimated_s", one.estimated_s},
                     {"seeds", one.seeds},
                     {"replayed_steps", one.replayed_steps},
                     {"segments", one.segments}});
    if (one.seeds > 0)
      plans.back().update(
          Json{{"time_s", one.mean_s}, {"time_low_s", one.low_s}, {"time_high_s", one.high_s}});
  }
  return {{"fidelity", "linux"},
          {"tcp", verification.fifos},
          {"residual", verification.residual},
          {"has_taken_rival", verification.has_taken_rival},
          {"plans", plans}};
}

}  // namespace

Json chosen_scenario(const PlanRequest& plan, const PlanResult& result) {
  Json scenario = {{"name", plan.name},
                   {"description", "The choice of longhaul plan: " + result.choice().candidate.words + "."}};
  scenario.update(result.choice().candidate.scenario);
  if (result.verification) put_behind_fifos(result.verification->fifos, scenario);
  if (!result.faulty.empty())
    for (const char* key : {"faults", "recovery"})
      if (plan.written.contains(key)) scenario[key] = plan.written[key];
  return scenario;
}

Json plan_data(const PlanRequest& plan, const PlanResult& result) {
  expect_possible(result);
  const SearchResult& search = result.search;
  Json plans = Json::array(), of_choice = Json::array(), links = Json::array(), upgrades = Json::array();
  for (std::size_t i = 0; i < search.evaluations.size(); ++i)
    plans.push_back(entry(plan, search.evaluations[i], i < search.front));
  for (const Evaluation& evaluation : search.of_choice) of_choice.push_back(entry(plan, evaluation, false));
  for (const BusyLink& link : result.sensitivity.links)
    links.push_back({{"link", link.name},
                     {"direction", link.is_forward ? "forward" : "backward"},
                     {"rate_bps", link.rate},
                     {"bytes_per_step", link.bytes},
                     {"busy", link.busy}});
  for (const Upgrade& upgrade : result.sensitivity.upgrades)
    upgrades.push_back({{"what", upgrade.what},
                        {"from_bps", upgrade.from},
                        {"to_bps", upgrade.to},
                        {"from_most_bps", upgrade.from_most},
                        {"to_most_bps", upgrade.to_most},
                        {"saved_s", upgrade.saved_s}});
  const bool has_own = any_of(plan.sites, [](const PlannedSite& site) { return site.hardware.has_value(); });
  Json faulty = Json::array();
  for (const FaultyTime& one : result.faulty)
    faulty.push_back({{"words", one.words},
                      {"draws", one.draws},
                      {"drawn_s", one.drawn_s},
                      {"time_s", one.time().mean_s},
                      {"time_low_s", one.time().low_s},
                      {"time_high_s", one.time().high_s},
                      {"without_s", one.without.mean_s},
                      {"longer", one.longer},
                      {"half_width", one.half_width},
                      {"goodput", one.goodput()}});
  Json by_gain = Json::array();
  for (const GainTime& one : result.by_gain)
    by_gain.push_back({{"connections_gain", one.gain}, {"time_s", one.total_s}});
  const MemoryNeed& memory = result.choice().memory;
  return {{"format", 1},
          {"name", plan.name},
          {"description", member(plan.written, "description")},
          {"decision", decision(plan, result)},
          {"caveats", caveats(plan, result)},
          {"currency", plan.currency},
          {"has_prices", has_prices(plan)},
          {"nodes", plan.nodes},
          {"accelerators", accelerators_of(plan)},
          {"accelerators_per_node", plan.hardware.per_node},
          {"accelerator", has_own ? "" : plan.hardware.name},
          {"parameters", plan.parameters},
          {"active_parameters", plan.active_parameters},
          {"tokens_per_step", plan.tokens_per_step},
          {"step_s", plan.step_s},
          {"min_utilization", plan.min_utilization},
          {"candidates", search.candidates},
          {"replays", search.replays},
          {"not_replayed", search.not_replayed},
          {"still_open", search.still_open},
          {"front", front_in_words(search)},
          {"range", range_meaning()},
          {"keeps_utilization", search.rule.keeps(result.choice())},
          {"keeps_limits", answer_of(result).excess(search.rule) == 0},
          {"without_limits", search.without_limits ? entry(plan, *search.without_limits, false) : Json()},
          {"plans", plans},
          {"choice_by_inner_steps", of_choice},
          {"memory",
           {{"words", memory_in_words(memory)},
            {"weights_bytes", memory.weights},
            {"gradients_bytes", memory.gradients},
            {"optimizer_bytes", memory.optimizer},
            {"outer_state_bytes", memory.outer_state},
            {"activations_bytes", memory.activations},
            {"kept_activations_bytes", memory.kept_activations},
            {"stages_bytes", memory.of_stages},
            {"available_bytes", memory.available}}},
          {"in_short", in_short(plan, result)},
          {"verification", verification_data(result)},
          {"sites", sites_of(plan, result)},
          {"with_faults", faulty},
          {"with_batches_by_speed", result.by_speed ? entry(plan, *result.by_speed, false) : Json()},
          {"by_connections_gain", by_gain},
          {"links", links},
          {"upgrades", upgrades},
          {"placement", placement_in_words(result.choice().config)},
          {"plan", plan.written}};
}

std::string plan_page(const Json& data, const std::string& planner_page) {
  std::map<std::string, std::string_view> parts = report_files();
  const std::string planner = Json(planner_page).dump();
  parts["planner"] = planner;
  for (const auto& [name, text] : plan_page_files()) parts[name] = text;
  std::vector<std::string> methods;
  for (const Json& one : data.at("plans")) add_new(one.at("method").get<std::string>(), methods);
  return filled_page("plan.html", parts, data.at("name").get<std::string>() + " – Longhaul plan", data,
                     methods);
}

}  // namespace longhaul
