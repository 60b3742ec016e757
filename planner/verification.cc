#include "planner/verification.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analysis/residual.h"
#include "analysis/statistics.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "methods/common/registry.h"
#include "planner/evaluation.h"
#include "planner/extrapolation.h"
#include "planner/plan_paths.h"
#include "planner/plan_request.h"
#include "planner/planned_network.h"
#include "planner/replay_task.h"
#include "planner/search.h"
#include "replay/predict/estimate.h"

namespace longhaul {
namespace {

constexpr int kMostSeeds = 5;
// Periods to replay at least, of which the first stands for no other one; of drawn partners more.
constexpr int kLeastPeriods = 3, kLeastDrawnPeriods = 8;

// A candidate behind the FIFOs, with a seed. Ranks keep the places that the search found for them.
Case behind_fifos_of(const Evaluation& evaluation, const Json& fifos, std::uint64_t seed,
                     const PlanTools& tools) {
  Json scenario = evaluation.candidate.scenario;
  put_behind_fifos(fifos, scenario);
  scenario["seed"] = seed;
  if (const std::vector<int>& places = evaluation.config.network.rank_order.places; !places.empty())
    scenario["network"]["rank_order"] = places;
  return tools.validated(scenario);
}

std::int64_t segments_of_steps(const Case& config, int steps) {
  const ReplayTask task = first_steps(config, steps, "linux", "");
  const ReplayEstimate replay = estimate(task.config, task.trace);
  return replay.segments + replay.segments_of_others;
}

// A plan that is to be verified.
struct Verified {
  const Evaluation* evaluation;
  Case config;
  Periods periods;
  VerifiedTime time;

  int steps() const { return steps_to_replay(periods, config.steps()); }
  // As few periods as keep within `most` segments, but for the least.
  void fit(double most) {
    const int least = std::min(periods.replays, periods.is_drawn() ? kLeastDrawnPeriods : kLeastPeriods);
    const auto each =
        static_cast<double>(segments_of_steps(config, std::min(periods.length, config.steps())));
    const double affordable = each > 0 ? most / each - (periods.unlike() - 1) : periods.replays;
    periods.replays = static_cast<int>(std::clamp<double>(std::floor(affordable), least, periods.replays));
    time.segments = segments_of_steps(config, steps());
  }
};

// The best plan of another recipe. One that breaks a limit comes last: behind the FIFOs the choice may too.
const Evaluation* rival_of(const SearchResult& search) {
  const Evaluation& choice = search.evaluations.front();
  const Evaluation* rival = nullptr;
  for (const Evaluation& other : search.evaluations)
    if (other.candidate.recipe != choice.candidate.recipe && (!rival || search.rule.is_better(other, *rival)))
      rival = &other;
  return rival;
}

// Throws InputError where it cannot be behind them.
Verified to_verify(const PlanRequest& plan, const Evaluation& evaluation, const Json& fifos, double most,
                   const PlanTools& tools) {
  Verified one{&evaluation, {}, {}, {}};
  try {
    one.config = behind_fifos_of(evaluation, fifos, plan.seed, tools);
  } catch (const InputError& error) {
    throw in_plan(error, plan, evaluation.candidate);
  }
  one.periods = periods_of(one.config, plan_of(one.config));
  one.time.words = evaluation.candidate.words;
  one.time.estimated_s = evaluation.total_s();
  one.fit(most);
  return one;
}

// Replays `seeds` of each. Throws RunError where one fails.
void replay(std::vector<Verified>& all, const PlanRequest& plan, const Json& fifos, int seeds,
            const PlanTools& tools) {
  std::vector<ReplayTask> tasks;
  for (const Verified& one : all)
    for (int seed = 0; seed < seeds; ++seed)
      tasks.push_back(first_steps(
          behind_fifos_of(*one.evaluation, fifos, plan.seed + static_cast<std::uint64_t>(seed), tools),
          one.steps(), "linux", one.time.words));
  tools.replay(tasks, "the choice behind its FIFOs");
  std::size_t next = 0;
  for (Verified& one : all) {
    std::vector<double> totals_s;
    for (int seed = 0; seed < seeds; ++seed) {
      const ReplayTask& task = tasks[next++];
      const TrainingTime time = training_time(task, one.periods, one.config.steps());
      totals_s.push_back(std::max(time.total_s, one.evaluation->compute_s));
    }
    one.time.seeds = seeds;
    one.time.replayed_steps = one.steps();
    one.time.mean_s = mean(totals_s);
    one.time.low_s = *std::min_element(totals_s.begin(), totals_s.end());
    one.time.high_s = *std::max_element(totals_s.begin(), totals_s.end());
  }
}

// As the search would have it with the time that was verified.
Evaluation with_verified_time(const PlanRequest& plan, const Verified& one) {
  Evaluation evaluation = *one.evaluation;
  evaluation.time.total_s = one.time.mean_s;
  price(plan, evaluation);
  return evaluation;
}

// The rival becomes the choice, and what of its recipe was replayed comes with it.
void take(std::size_t number, SearchResult& search) {
  std::vector<Evaluation>& all = search.evaluations;
  if (number >= search.front) ++search.front;
  std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(number),
              all.begin() + static_cast<std::ptrdiff_t>(number) + 1);
  all.front().left_out.clear();
  search.of_choice.clear();
  for (const Evaluation& evaluation : all)
    if (evaluation.candidate.recipe == all.front().candidate.recipe) search.of_choice.push_back(evaluation);
  stable_sort(search.of_choice, [](const Evaluation& a, const Evaluation& b) {
    return a.candidate.inner_steps < b.candidate.inner_steps;
  });
}

}  // namespace

std::optional<Verification> verified(const PlanRequest& plan, const PlannedNetwork& network,
                                     SearchResult& search, const PlanTools& tools) {
  if (network.fifos.is_null()) return std::nullopt;
  Verification verification;
  verification.fifos = network.fifos;
  const auto most = static_cast<double>(plan.most_verified_segments);
  const Evaluation* const rival = rival_of(search);
  std::vector<Verified> all;
  all.push_back(to_verify(plan, search.evaluations.front(), network.fifos, rival ? most / 2 : most, tools));
  verification.residual = class_residual(all.front().config.network);
  if (rival) {
    try {
      all.push_back(to_verify(plan, *rival, network.fifos, most / 2, tools));
    } catch (const InputError& error) {
      search.notes.push_back(fmt::format("{} is not verified: {}: {}", rival->candidate.words,
                                         error.parts().path, error.parts().found));
    }
  }
  const auto segments_together = [&] {
    double sum = 0;
    for (const Verified& one : all) sum += static_cast<double>(one.time.segments);
    return sum;
  };
  if (all.size() > 1 && segments_together() > most) {
    search.notes.push_back(all.back().time.words +
                           " is not verified: with the choice it takes more than verify_segments");
    all.pop_back();
  }
  const double together = segments_together();
  if (together <= most) {
    const int seeds = static_cast<int>(std::clamp<double>(most / std::max(1., together), 1, kMostSeeds));
    replay(all, plan, network.fifos, seeds, tools);
  }
  for (const Verified& one : all) verification.plans.push_back(one.time);
  if (together <= most && all.size() > 1 &&
      search.rule.is_better(with_verified_time(plan, all[1]), with_verified_time(plan, all[0]))) {
    verification.has_taken_rival = true;
    std::swap(verification.plans[0], verification.plans[1]);
    take(as_index(rival - search.evaluations.data()), search);
  }
  return verification;
}

}  // namespace longhaul
