#include "planner/search.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/residual.h"
#include "core/errors.h"
#include "core/index.h"
#include "methods/common/registry.h"
#include "replay/optimized_order.h"

namespace longhaul {
namespace {

constexpr std::size_t kReplaysAtOnce = 8;
constexpr double kBytesOfAGb = 1e9;

// The first steps of a case, at a fidelity, as a task.
ReplayTask task_of(Case one, const std::string& fidelity, const std::string& name) {
  const int steps = steps_to_replay(plan_of(one), one.steps());
  one.workload.steps = steps;
  one.network.fidelity = fidelity;
  Json& resolved = one.resolved;
  resolved["workload"].erase("total_tokens");
  resolved["workload"]["steps"] = steps;
  resolved["network"]["fidelity"] = fidelity;
  // Found once, and not again by each child.
  if (!one.network.rank_order.places.empty())
    resolved["network"]["rank_order"] = one.network.rank_order.places;
  ReplayTask task{name, std::move(one), {}, "", ""};
  task.trace = trace_of(task.one);
  task.trace.evaluate_every = period_of(task.trace.plan);
  return task;
}

double metric_of(const Evaluation& evaluation, Preference prefer) {
  switch (prefer) {
    case Preference::kMoney:
      return evaluation.cost();
    case Preference::kBytes:
      return evaluation.bytes();
    default:
      return evaluation.total_s();
  }
}

// Whether `a` is the better choice. Ties go to the other two, then to more frequent synchronization.
bool is_preferred(const Evaluation& a, const Evaluation& b, Preference prefer) {
  for (const Preference one : {prefer, Preference::kTime, Preference::kMoney, Preference::kBytes})
    if (metric_of(a, one) != metric_of(b, one)) return metric_of(a, one) < metric_of(b, one);
  return a.candidate.inner_steps < b.candidate.inner_steps;
}

// To a planner: not worse in anything, and better in something or named before it.
bool makes_needless(const Evaluation& a, const Evaluation& b) {
  const auto is_less_or_same = [](double one, double other) { return one <= other * (1 + kSameToAPlanner); };
  return is_less_or_same(a.total_s(), b.total_s()) && is_less_or_same(a.cost(), b.cost()) &&
         is_less_or_same(a.bytes(), b.bytes());
}

class Search {
 public:
  Search(const PlanRequest& plan, const PlannedNetwork& network, const TokenNeeds& needs,
         const PlanTools& tools)
      : plan_(plan), network_(network), needs_(needs), tools_(tools) {}

  SearchResult run() {
    prepare();
    replay_all("analytic", all_numbers(), "analytic times of all candidates");
    group();
    while (replay_round()) {
    }
    replay_one_of_each_method();
    collect();
    return std::move(result_);
  }

 private:
  struct Recipe {
    std::vector<std::size_t> numbers;  // of all_, by rising H
    std::size_t current = 0;           // among them
    bool is_settled = false;
  };

  std::string fidelity() const { return network_.section.value("fidelity", "flow"); }

  std::vector<std::size_t> all_numbers() const {
    std::vector<std::size_t> numbers(all_.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
    return numbers;
  }

  // Candidates that cannot be, by method and why.
  struct Refused {
    std::string method, why;
    std::set<int> inner_steps;
    std::size_t candidates = 0;
  };

  static void refuse(const Candidate& candidate, const InputError& error, std::vector<Refused>& refused) {
    const std::string why = fmt::format("{}: {}", error.parts().path, error.parts().found);
    auto found = std::find_if(refused.begin(), refused.end(), [&](const Refused& one) {
      return one.method == candidate.method && one.why == why;
    });
    if (found == refused.end()) found = refused.insert(found, {candidate.method, why, {}, 0});
    found->inner_steps.insert(candidate.inner_steps);
    ++found->candidates;
  }

  // All of a method, or with these H alone.
  void note_refused(const std::vector<Refused>& refused, const std::vector<Candidate>& candidates) {
    for (const Refused& one : refused) {
      const auto of_method = std::count_if(candidates.begin(), candidates.end(), [&](const Candidate& other) {
        return other.method == one.method;
      });
      std::string which = one.method;
      if (as_index(of_method) != one.candidates && *one.inner_steps.begin() > 0) {
        std::vector<std::string> numbers;
        for (const int inner : one.inner_steps) numbers.push_back(std::to_string(inner));
        which += " with H = " + enumeration(numbers, "and");
      }
      result_.notes.push_back(fmt::format("{} is left out: {}", which, one.why));
    }
  }

  void prepare() {
    result_.notes = needs_.notes;
    const std::vector<Candidate> candidates = candidates_of(plan_, network_, needs_.of_method);
    result_.candidates = candidates.size();
    std::optional<InputError> first;
    std::vector<Refused> refused;
    for (const Candidate& candidate : candidates) {
      try {
        add(candidate);
      } catch (const InputError& error) {
        if (!first) first = error;
        refuse(candidate, error, refused);
      }
    }
    note_refused(refused, candidates);
    if (all_.empty() && first) throw *first;
    check_memory();
  }

  void add(const Candidate& candidate) {
    Evaluation evaluation;
    evaluation.candidate = candidate;
    evaluation.one = tools_.validated(candidate.scenario);
    const Case& one = evaluation.one;
    const OperationPlan plan = plan_of(one);
    if (has_merges(plan))
      throw InputError("candidates.methods", "its bytes go to a synchronizer, which a plan does not price",
                       "");
    evaluation.compute_s = plan_.step_s * one.steps();
    evaluation.memory = memory_need(plan_, one);
    Case begin = one;
    begin.workload.steps = steps_to_replay(plan, one.steps());
    evaluation.traffic =
        site_traffic(one, trace_of(begin), placed_topology(one, plan), period_of(plan), one.steps());
    all_.push_back(std::move(evaluation));
  }

  void check_memory() {
    const auto fits = [](const Evaluation& one) { return one.memory.fits(); };
    if (std::any_of(all_.begin(), all_.end(), fits)) {
      for (const Evaluation& one : all_)
        if (!fits(one) && said_.insert(one.candidate.method + " memory").second)
          result_.notes.push_back(
              fmt::format("{} is left out: {}", one.candidate.method, memory_in_words(one.memory)));
      all_.erase(std::remove_if(all_.begin(), all_.end(), [&](const Evaluation& one) { return !fits(one); }),
                 all_.end());
      return;
    }
    throw InputError("accelerator", "no candidate fits: " + memory_in_words(all_.front().memory),
                     "more accelerators a node (per_node), more memory, or a smaller model");
  }

  void replay_all(const std::string& fidelity, const std::vector<std::size_t>& numbers,
                  const std::string& phase) {
    std::vector<ReplayTask> tasks;
    for (const std::size_t number : numbers)
      tasks.push_back(task_of(all_[number].one, fidelity, all_[number].candidate.words));
    tools_.replay(tasks, phase);
    for (std::size_t i = 0; i < numbers.size(); ++i) take(tasks[i], fidelity, all_[numbers[i]]);
  }

  void take(const ReplayTask& task, const std::string& fidelity, Evaluation& evaluation) {
    if (task.folder.empty()) throw RunError(evaluation.candidate.words + ": " + task.error);
    const Case& one = evaluation.one;
    evaluation.time = training_time(task.folder, task.trace.evaluate_every, task.one.steps(), one.steps());
    evaluation.folder = task.folder;
    evaluation.is_replayed = fidelity == this->fidelity();
    if (evaluation.is_replayed && fidelity == "flow") ++result_.replays;
    evaluation.residual =
        network_residual({{"fidelity", fidelity}, {"queue", queue_setting(one.network.tcp)}});
    price(evaluation);
  }

  void price(Evaluation& evaluation) const {
    const NodeHardware& hardware = plan_.hardware;
    const double hours = evaluation.total_s() / 3600;
    evaluation.utilization = evaluation.total_s() > 0 ? evaluation.compute_s / evaluation.total_s() : 0;
    evaluation.compute_cost = hours * plan_.nodes * hardware.per_node * hardware.price;
    evaluation.egress_cost = 0;
    const SiteTraffic& traffic = evaluation.traffic;
    for (std::size_t i = 0; i < traffic.sites.size(); ++i)
      evaluation.egress_cost += traffic.leaving[i] / kBytesOfAGb * plan_.egress.of(traffic.sites[i]);
  }

  bool keeps(const Evaluation& one) const { return one.utilization >= plan_.min_utilization; }

  void group() {
    std::map<std::string, std::size_t> place;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const auto [found, is_new] = place.emplace(all_[i].candidate.recipe, recipes_.size());
      if (is_new) recipes_.emplace_back();
      recipes_[found->second].numbers.push_back(i);
    }
    for (Recipe& recipe : recipes_) {
      std::sort(recipe.numbers.begin(), recipe.numbers.end(), [&](std::size_t a, std::size_t b) {
        return all_[a].candidate.inner_steps < all_[b].candidate.inner_steps;
      });
      recipe.current = choice_among(recipe.numbers);
    }
  }

  // The first that keeps the utilization; else the one that comes nearest.
  std::size_t choice_among(const std::vector<std::size_t>& numbers) const {
    std::size_t best = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (keeps(all_[numbers[i]])) return i;
      if (all_[numbers[i]].utilization > all_[numbers[best]].utilization) best = i;
    }
    return best;
  }

  Evaluation& current(const Recipe& recipe) { return all_[recipe.numbers[recipe.current]]; }
  const Evaluation& current(const Recipe& recipe) const { return all_[recipe.numbers[recipe.current]]; }

  // Something that flow has replayed is at least as good in all, and keeps the utilization if this does.
  bool is_ruled_out(const Evaluation& one) const {
    return std::any_of(recipes_.begin(), recipes_.end(), [&](const Recipe& recipe) {
      const Evaluation& other = current(recipe);
      return recipe.is_settled && dominates(other, one) && (keeps(other) || !keeps(one));
    });
  }

  bool is_better(const Evaluation& a, const Evaluation& b) const {
    if (keeps(a) != keeps(b)) return keeps(a);
    return is_preferred(a, b, plan_.prefer);
  }

  // Replays the most promising recipes; false: nothing is left.
  bool replay_round() {
    std::vector<Recipe*> open;
    for (Recipe& recipe : recipes_)
      if (!recipe.is_settled && !is_ruled_out(current(recipe))) open.push_back(&recipe);
    if (open.empty()) return false;
    const int left = plan_.most_replays - result_.replays;
    if (left <= 0) {
      result_.ran_out = true;
      return false;
    }
    std::sort(open.begin(), open.end(),
              [&](const Recipe* a, const Recipe* b) { return is_better(current(*a), current(*b)); });
    open.resize(std::min({open.size(), kReplaysAtOnce, as_index(left)}));
    std::vector<std::size_t> numbers;
    for (const Recipe* recipe : open)
      if (!current(*recipe).is_replayed) numbers.push_back(recipe->numbers[recipe->current]);
    if (!numbers.empty()) replay_all(fidelity(), numbers, "replay of the most promising");
    for (Recipe* recipe : open) settle(*recipe);
    return true;
  }

  // Methods are not equally good at equal tokens: of each there is one whose time is known, whatever its
  // place.
  void replay_one_of_each_method() {
    std::map<std::string, Recipe*> best;
    for (Recipe& recipe : recipes_) {
      Recipe*& known = best[current(recipe).candidate.method];
      if (!known || (recipe.is_settled && !known->is_settled) ||
          (recipe.is_settled == known->is_settled && is_better(current(recipe), current(*known))))
        known = &recipe;
    }
    for (;;) {
      std::vector<std::size_t> numbers;
      for (const auto& [method, recipe] : best)
        if (!recipe->is_settled && !current(*recipe).is_replayed)
          numbers.push_back(recipe->numbers[recipe->current]);
      if (!numbers.empty()) replay_all(fidelity(), numbers, "the best of the other methods");
      bool is_open = false;
      for (const auto& [method, recipe] : best)
        if (!recipe->is_settled) {
          settle(*recipe);
          is_open = is_open || !recipe->is_settled;
        }
      if (!is_open) return;
    }
  }

  // H that was enough by its analytic time may not be.
  void settle(Recipe& recipe) {
    if (!keeps(current(recipe)) && recipe.current + 1 < recipe.numbers.size()) {
      ++recipe.current;
      return;
    }
    if (!keeps(current(recipe))) {
      std::vector<std::size_t> replayed;
      for (std::size_t i = 0; i < recipe.numbers.size(); ++i)
        if (all_[recipe.numbers[i]].is_replayed) replayed.push_back(i);
      for (const std::size_t i : replayed)
        if (all_[recipe.numbers[i]].utilization > current(recipe).utilization) recipe.current = i;
    }
    recipe.is_settled = true;
  }

  void collect() {
    std::vector<Evaluation> found;
    for (const Recipe& recipe : recipes_)
      if (recipe.is_settled)
        found.push_back(current(recipe));
      else
        ++result_.not_replayed;
    result_.keeps_utilization =
        std::any_of(found.begin(), found.end(), [&](const Evaluation& one) { return keeps(one); });
    double best = 0;
    for (const Evaluation& one : found) best = std::max(best, one.utilization);
    for (Evaluation& one : found)
      if (result_.keeps_utilization ? !keeps(one) : one.utilization < best)
        one.left_out = fmt::format("computes {:.0f} % of the time", 100 * one.utilization);
    const std::vector<std::size_t> front = pareto_front(found, plan_.prefer);
    std::vector<bool> is_front(found.size());
    for (const std::size_t number : front) {
      is_front[number] = true;
      result_.evaluations.push_back(found[number]);
    }
    result_.front = front.size();
    std::vector<Evaluation> others;
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!is_front[i]) others.push_back(found[i]);
    std::sort(others.begin(), others.end(),
              [&](const Evaluation& a, const Evaluation& b) { return is_preferred(a, b, plan_.prefer); });
    result_.evaluations.insert(result_.evaluations.end(), others.begin(), others.end());
    replay_every_h(result_.evaluations.front().candidate.recipe);
  }

  void replay_every_h(const std::string& chosen) {
    for (const Recipe& recipe : recipes_) {
      if (current(recipe).candidate.recipe != chosen) continue;
      std::vector<std::size_t> missing;
      for (const std::size_t number : recipe.numbers)
        if (!all_[number].is_replayed) missing.push_back(number);
      if (!missing.empty()) replay_all(fidelity(), missing, "every H of the choice");
      for (const std::size_t number : recipe.numbers) result_.of_choice.push_back(all_[number]);
    }
  }

  const PlanRequest& plan_;
  const PlannedNetwork& network_;
  const TokenNeeds& needs_;
  const PlanTools& tools_;
  std::vector<Evaluation> all_;
  std::vector<Recipe> recipes_;
  std::set<std::string> said_;
  SearchResult result_;
};

}  // namespace

double Evaluation::low_s() const {
  const double network_s = std::max(0., total_s() - compute_s);
  return std::max(compute_s, total_s() - residual * network_s - 2 * time.standard_error_s);
}

double Evaluation::high_s() const {
  return total_s() + residual * std::max(0., total_s() - compute_s) + 2 * time.standard_error_s;
}

bool dominates(const Evaluation& a, const Evaluation& b) {
  const double of_a[] = {a.total_s(), a.cost(), a.bytes()}, of_b[] = {b.total_s(), b.cost(), b.bytes()};
  bool is_less = false;
  for (int i = 0; i < 3; ++i) {
    if (of_a[i] > of_b[i]) return false;
    is_less = is_less || of_a[i] < of_b[i];
  }
  return is_less;
}

std::vector<std::size_t> pareto_front(const std::vector<Evaluation>& all, Preference prefer) {
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].left_out.empty()) continue;
    const bool is_beaten = std::any_of(all.begin(), all.end(), [&](const Evaluation& other) {
      return other.left_out.empty() && dominates(other, all[i]);
    });
    if (!is_beaten) front.push_back(i);
  }
  std::sort(front.begin(), front.end(),
            [&](std::size_t a, std::size_t b) { return is_preferred(all[a], all[b], prefer); });
  std::vector<std::size_t> kept;
  for (const std::size_t number : front)
    if (std::none_of(kept.begin(), kept.end(),
                     [&](std::size_t better) { return makes_needless(all[better], all[number]); }))
      kept.push_back(number);
  return kept;
}

SearchResult search_plan(const PlanRequest& plan, const PlannedNetwork& network, const TokenNeeds& needs,
                         const PlanTools& tools) {
  return Search(plan, network, needs, tools).run();
}

std::vector<TrainingTime> times_of(const std::vector<Case>& cases, const PlanTools& tools,
                                   const std::vector<std::string>& names, const std::string& phase) {
  std::vector<ReplayTask> tasks;
  for (std::size_t i = 0; i < cases.size(); ++i)
    tasks.push_back(task_of(cases[i], cases[i].network.fidelity, names[i]));
  tools.replay(tasks, phase);
  std::vector<TrainingTime> times;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (tasks[i].folder.empty()) throw RunError(names[i] + ": " + tasks[i].error);
    times.push_back(training_time(tasks[i].folder, tasks[i].trace.evaluate_every, tasks[i].one.steps(),
                                  cases[i].steps()));
  }
  return times;
}

}  // namespace longhaul
