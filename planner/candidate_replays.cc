#include "planner/candidate_replays.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/residual.h"
#include "core/base/errors.h"
#include "core/base/ranges.h"
#include "methods/common/registry.h"
#include "planner/coarse_estimate.h"
#include "planner/site_steps.h"
#include "replay/predict/estimate.h"

namespace longhaul {
namespace {

// Whether every replica waits in every exchange, so that nobody computes while another one sends.
bool are_all_blocking(const OperationPlan& plan) {
  return !plan.pipeline.has_stages() &&
         std::all_of(plan.rules.begin(), plan.rules.end(), [](const OperationRule& rule) {
           return rule.is_blocking() && rule.overlap_backward == 0 && rule.grouping == Grouping::kEveryone;
         });
}

// Of a replay, until the last worker is done on a network that takes no time, exchanges left out.
double alone_s(const ReplayedTimes& times) {
  double longest_s = 0;
  for (const ReplicaTotals& of : times.totals) longest_s = std::max(longest_s, of.compute_s + of.bubble_s);
  return longest_s;
}

// One for each coarse form of its collectives, or itself.
void add_forms(const WantedReplay& one, const std::optional<CoarsePlan>& coarse,
               std::vector<WantedReplay>& wanted) {
  if (!coarse) return wanted.push_back(one);
  for (const Collective::CoarseForm& form : coarse->forms) {
    wanted.push_back(one);
    wanted.back().collective = form.name;
  }
}

CoarseTimes coarse_times_of(const WantedReplay& wanted, const SharedReplay& first, const SharedReplay& second,
                            const Evaluation& evaluation) {
  const Case& config = evaluation.config;
  const OperationPlan plan = plan_of(config);
  const Periods periods = periods_of(config, plan);
  const auto total_s = [&](const SharedReplay& replay) {
    if (!replay.times) throw RunError(wanted.name + ": " + replay.error);
    return training_time(replay.times->clocks, periods, wanted.steps, config.steps()).total_s;
  };
  return coarse_times(coarse_plan(config, plan).value(), total_s(first), total_s(second));
}

// Seconds that the candidate takes at least, as far as these say.
double below(const CoarseTimes& times, const Evaluation& evaluation) {
  return times.least_s - kCoarseError * std::max(0., times.least_s - evaluation.compute_s);
}

}  // namespace

WantedReplay CandidateReplays::wanted_of(const Evaluation& evaluation, bool is_needed) const {
  const Case& config = evaluation.config;
  return {&config,
          steps_to_replay(periods_of(config, plan_of(config)), config.steps()),
          fidelity_,
          evaluation.candidate.words,
          evaluation.exchanges_of_any_h,
          is_needed};
}

CandidateReplays::Chosen CandidateReplays::with_other_h(const Numbers& numbers) const {
  Chosen chosen;
  const auto add = [&](const Evaluation& evaluation, bool is_needed) {
    if (contains(chosen.exchanges, evaluation.exchanges)) return;
    chosen.exchanges.push_back(evaluation.exchanges);
    chosen.wanted.push_back(wanted_of(evaluation, is_needed));
  };
  for (const std::size_t number : numbers) add(all_[number], true);
  for (const std::size_t number : numbers)
    for (const Evaluation& other : all_)
      if (!other.is_replayed && !other.exchanges_of_any_h.empty() &&
          other.exchanges_of_any_h == all_[number].exchanges_of_any_h)
        add(other, false);
  return chosen;
}

void CandidateReplays::replay(const Numbers& numbers, const std::string& phase) {
  const auto [wanted, exchanges] = with_other_h(numbers);
  if (wanted.empty()) return;
  const std::vector<SharedReplay> found = replay_shared(wanted, tools_, phase, count_);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    for (Evaluation& evaluation : all_)
      if (evaluation.exchanges == exchanges[i] && (wanted[i].is_needed || found[i].times))
        take(wanted[i], found[i], evaluation);
  settle(exchanges, phase);
}

void CandidateReplays::settle(const std::vector<std::size_t>& exchanges, const std::string& phase) {
  for (const int times : kSettlingTimes) {
    Chosen longer;
    for (const Evaluation& evaluation : all_)
      if (contains(exchanges, evaluation.exchanges) && !contains(longer.exchanges, evaluation.exchanges))
        if (const std::optional<WantedReplay> more = more_periods(evaluation, times)) {
          longer.wanted.push_back(*more);
          longer.exchanges.push_back(evaluation.exchanges);
        }
    int repeated = 0;  // are not counted
    const std::vector<SharedReplay> found = replay_shared(longer.wanted, tools_, phase, repeated);
    for (std::size_t i = 0; i < found.size(); ++i)
      for (Evaluation& evaluation : all_)
        if (evaluation.exchanges == longer.exchanges[i]) take(longer.wanted[i], found[i], evaluation);
  }
}

std::optional<WantedReplay> CandidateReplays::more_periods(const Evaluation& evaluation, int times) const {
  if (!evaluation.is_replayed) return std::nullopt;
  const std::optional<int> steps = settling_steps(evaluation.config, fidelity_, evaluation.time, times);
  if (!steps) return std::nullopt;
  WantedReplay more = wanted_of(evaluation, true);
  more.exchanges.clear();
  more.steps = *steps;
  return more;
}

// Its links are asked for, and the answer rests on no other's replay.
void CandidateReplays::replay_itself(std::size_t number) {
  std::vector<WantedReplay> wanted = {wanted_of(all_[number], true)};
  wanted[0].exchanges.clear();
  const std::vector<SharedReplay> found = replay_shared(wanted, tools_, "the choice", count_);
  take(wanted[0], found[0], all_[number]);
  settle({all_[number].exchanges}, "the choice");
}

double CandidateReplays::estimated_cost_s(const Numbers& numbers) const {
  double cost_s = 0;
  std::set<std::string> counted;
  for (const std::size_t number : numbers) {
    const Evaluation& evaluation = all_[number];
    const std::string exchanges = evaluation.exchanges_of_any_h.empty() ? std::to_string(evaluation.exchanges)
                                                                        : evaluation.exchanges_of_any_h;
    if (evaluation.is_replayed || !counted.insert(exchanges).second) continue;
    const WantedReplay wanted = wanted_of(evaluation, true);
    const ReplayTask task = first_steps(evaluation.config, wanted.steps, fidelity_, "");
    cost_s += longhaul::estimate(task.config, task.trace).seconds;
  }
  return cost_s;
}

bool CandidateReplays::may_be_estimated(std::size_t number) const {
  const Evaluation& evaluation = all_[number];
  return fidelity_ == "flow" && !evaluation.is_replayed && !evaluation.is_estimated &&
         coarse_plan(evaluation.config, plan_of(evaluation.config)).has_value();
}

void CandidateReplays::estimate(const Numbers& numbers, const std::string& phase) {
  const auto [chosen, exchanges] = with_other_h(numbers);
  std::vector<WantedReplay> wanted;
  for (const WantedReplay& one : chosen)
    add_forms(one, coarse_plan(*one.config, plan_of(*one.config)), wanted);
  int coarse = 0;  // are not counted
  const std::vector<SharedReplay> found = replay_shared(wanted, tools_, phase, coarse);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const SharedReplay &first = found[2 * i], &second = found[2 * i + 1];
    if (!chosen[i].is_needed && (!first.times || !second.times)) continue;
    for (Evaluation& evaluation : all_) {
      if (evaluation.exchanges != exchanges[i] || evaluation.is_replayed) continue;
      const CoarseTimes times = coarse_times_of(chosen[i], first, second, evaluation);
      evaluation.expected_s = std::max(evaluation.total_s(), times.likely_s);
      evaluation.time.total_s = std::max(evaluation.total_s(), below(times, evaluation));
      evaluation.is_estimated = true;
      price(plan_, evaluation);
    }
  }
}

// To fidelity analytic connections matter where one of them has a limit of its own alone.
std::string CandidateReplays::screening_key(const Evaluation& evaluation) const {
  Json scenario = evaluation.candidate.scenario;
  scenario["network"]["tcp"].erase("slow_start_after_idle");
  if (evaluation.config.network.topology.name != "regions") scenario["network"]["tcp"].erase("connections");
  return scenario.dump();
}

void CandidateReplays::screen() {
  std::vector<WantedReplay> wanted;
  std::map<std::string, std::size_t> place;
  std::vector<std::size_t> of_candidate;
  for (const Evaluation& evaluation : all_) {
    const auto [found, is_new] = place.emplace(screening_key(evaluation), wanted.size());
    of_candidate.push_back(found->second);
    const Case& config = evaluation.config;
    if (!is_new) continue;
    const OperationPlan plan = plan_of(config);
    const WantedReplay one = {&config, steps_to_screen(periods_of(config, plan), config.steps()), "analytic",
                              evaluation.candidate.words, evaluation.exchanges_of_any_h};
    add_forms(one, coarse_plan(config, plan), wanted);
  }
  int screened = 0;  // are not counted among the replays
  const std::vector<SharedReplay> found =
      replay_shared(wanted, tools_, "analytic times of all candidates", screened);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const std::size_t first = of_candidate[i];
    if (wanted[first].collective.empty())
      take(wanted[first], found[first], all_[i]);
    else
      take_screened(wanted[first], found[first], found[first + 1], all_[i]);
  }
}

// By the coarse forms of its collectives.
void CandidateReplays::take_screened(const WantedReplay& wanted, const SharedReplay& first,
                                     const SharedReplay& second, Evaluation& evaluation) {
  const OperationPlan plan = plan_of(evaluation.config);
  const CoarseTimes times = coarse_times_of(wanted, first, second, evaluation);
  evaluation.time.total_s = below(times, evaluation);
  bound(plan, periods_of(evaluation.config, plan), evaluation);
  evaluation.expected_s = std::max(evaluation.expected_s, times.likely_s);
  price(plan_, evaluation);
}

void CandidateReplays::take(const WantedReplay& wanted, const SharedReplay& found, Evaluation& evaluation) {
  const Case& config = evaluation.config;
  const OperationPlan plan = plan_of(config);
  const Periods periods = periods_of(config, plan);
  // A screening is too short even where the plan itself asks for fidelity analytic.
  const bool is_final =
      wanted.steps >= steps_to_replay(periods, config.steps()) && wanted.fidelity == fidelity_;
  if (!found.times) throw RunError(evaluation.candidate.words + ": " + found.error);
  evaluation.time = training_time(found.times->clocks, periods, wanted.steps, config.steps());
  if (!evaluation.time.is_exact)
    evaluation.time.total_s = std::max(evaluation.total_s(), evaluation.compute_s);
  evaluation.replayed = found.times;
  evaluation.is_own_replay = found.is_own;
  evaluation.is_replayed = is_final;
  if (!is_final) bound(plan, periods, evaluation);
  if (plan.pipeline.has_stages())
    evaluation.bubble_s =
        std::max(0., alone_s(*found.times) * config.steps() / wanted.steps - evaluation.compute_s);
  const bool has_residual = wanted.fidelity == "flow" || wanted.fidelity == "linux";
  evaluation.residual = has_residual ? network_validity(config).residual : 0;
  price(plan_, evaluation);
}

// Analytic shares no link and no connection. What the busiest one needs for its bytes is a lower bound too.
// Where all replicas wait for each other nobody sends while all compute, and an exchange uses a link only
// from the first replica's post to the last one's end: two exchanges together last, from their last posts,
// at least as long as the link needs for one.
void CandidateReplays::bound(const OperationPlan& plan, const Periods& periods,
                             Evaluation& evaluation) const {
  double& total_s = evaluation.time.total_s;
  const double busiest_s =
      !periods.is_drawn() && evaluation.config.network.variation.is_empty() && periods.settling == 0
          ? evaluation.busiest_s
          : 0;
  evaluation.expected_s = std::max(total_s, busiest_s);
  if (periods.is_drawn()) {
    total_s = std::max(evaluation.compute_s, total_s - evaluation.time.half_width_s);
    return;
  }
  total_s = evaluation.expected_s;
  if (!are_all_blocking(plan)) return;
  evaluation.expected_s = std::max(total_s, evaluation.compute_s + busiest_s);
  if (steps_differ(plan_)) return;  // the fast ones send while the slow ones compute
  total_s = std::max(total_s, evaluation.compute_s + busiest_s / 2);
}

}  // namespace longhaul
