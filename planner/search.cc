#include "planner/search.h"

#include <fmt/core.h>

#include <map>
#include <set>
#include <sstream>

#include "analysis/residual.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "methods/common/registry.h"
#include "net/topologies/registry.h"
#include "planner/candidate_replays.h"
#include "planner/candidates.h"
#include "planner/choice.h"
#include "planner/evaluation.h"
#include "planner/extrapolation.h"
#include "planner/memory_need.h"
#include "planner/plan_paths.h"
#include "planner/plan_request.h"
#include "planner/planned_network.h"
#include "planner/replay_task.h"
#include "planner/shared_replays.h"
#include "planner/site_steps.h"
#include "planner/site_traffic.h"
#include "planner/token_needs.h"
#include "replay/placement/optimized_order.h"

namespace longhaul {
namespace {

constexpr std::size_t kReplaysAtOnce = 4;

class Search {
 public:
  Search(const PlanRequest& plan, const PlannedNetwork& network, const TokenNeeds& needs,
         const PlanTools& tools)
      : plan_(plan),
        network_(network),
        needs_(needs),
        tools_(tools),
        replays_(plan, network.section.value("fidelity", "flow"), tools, all_) {}

  SearchResult run() {
    prepare();
    try {
      replays_.screen();
      replay_one_of_each_method();
      replay_choice(result_.rule);
      if (result_.rule.has_limits()) replay_choice(without_limits());
      replay_every_h();
      replay_front();
      while (!all_[choice(result_.rule)].is_own_replay) replays_.replay_itself(choice(result_.rule));
    } catch (const Interrupted&) {
      if (choice(result_.rule) == all_.size()) throw;
      result_.is_cut = true;
    }
    collect();
    return std::move(result_);
  }

 private:
  // H of candidates that cannot be, by method and why.
  using Refused = nlohmann::ordered_map<std::pair<std::string, std::string>, std::multiset<int>>;

  // All of a method, or with these H alone.
  void note_refused(const Refused& refused, const std::vector<Candidate>& candidates) {
    for (const auto& [reason, inner_steps] : refused) {
      const auto& [method, why] = reason;
      const auto of_method =
          count_if(candidates, [&of = method](const Candidate& one) { return one.method == of; });
      std::vector<std::string> numbers;
      for (const int inner : inner_steps) add_new(std::to_string(inner), numbers);
      const bool are_some = as_index(of_method) != inner_steps.size() && *inner_steps.begin() > 0;
      result_.notes.push_back(fmt::format("{}{} is left out: {}", method,
                                          are_some ? " with H = " + enumeration(numbers, "and") : "", why));
      result_.candidates += inner_steps.size();
    }
  }

  void prepare() {
    result_.notes = needs_.notes;
    result_.notes.insert(result_.notes.end(), plan_.notes.begin(), plan_.notes.end());
    const std::vector<Candidate> candidates = candidates_of(plan_, network_, needs_.of_method);
    std::optional<InputError> first;
    Refused refused;
    for (const Candidate& candidate : candidates) {
      try {
        add(candidate);
      } catch (const InputError& of_scenario) {
        const InputError error = in_plan(of_scenario, plan_, candidate);
        if (!first) first = error;
        const std::string why = error.parts().path + ": " + error.parts().found;
        refused[{candidate.method, why}].insert(candidate.inner_steps);
      }
    }
    note_refused(refused, candidates);
    if (all_.empty() && first) throw *first;
    result_.candidates += all_.size();
    for (const std::string& note : topology_notes(all_.front().config)) result_.notes.push_back(note);
    check_prices();
    check_memory();
    ChoiceRule& rule = result_.rule;
    rule = {plan_.prefer, plan_.min_utilization, all_.front().compute_s, plan_.deadline_s, plan_.budget};
    for (const Evaluation& evaluation : all_)
      rule.least_compute_s = std::min(rule.least_compute_s, evaluation.compute_s);
  }

  // A price of a site that is not there would be ignored.
  void check_prices() const {
    const std::vector<std::string>& sites = all_.front().traffic.sites;
    for (const auto& [site, price] : plan_.egress.of_site)
      if (!contains(sites, site))
        throw InputError("egress.sites." + site, "there is no site \"" + site + "\"",
                         "one of the sites: " + join_some(sites, 20), did_you_mean(site, sites));
  }

  // Briefly, and at length where another one has that name.
  void name(const OperationPlan& plan, Candidate& candidate) const {
    const auto is_taken = [&] {
      return any_of(all_, [&](const Evaluation& other) { return other.candidate.words == candidate.words; });
    };
    name_candidate(plan, true, candidate);
    if (is_taken()) name_candidate(plan, false, candidate);
  }

  void add(const Candidate& candidate) {
    Evaluation evaluation;
    evaluation.candidate = candidate;
    evaluation.config = tools_.validated(candidate.scenario);
    evaluation.step_s = plan_.step_s;
    if (steps_differ(plan_)) give_steps_to_ranks(plan_, tools_.validated, evaluation);
    const Case& config = evaluation.config;
    const OperationPlan plan = plan_of(config);
    if (has_merges(plan))
      throw InputError("candidates.methods", "its bytes go to a synchronizer, which a plan does not price",
                       "");
    const PipelinePlan& pipeline = plan.pipeline;
    if (pipeline.routing == MicrobatchRouting::kThroughput || pipeline.is_partial() || pipeline.by_bits)
      throw InputError("candidates.pipelines", "what passes between its stages is known while it runs alone",
                       "routing straight or random, without skip, reorder and learned bits");
    name(plan, evaluation.candidate);
    evaluation.compute_s = evaluation.step_s * longest_compute(config);
    evaluation.memory = memory_need(plan_, config);
    Case begin = config;
    begin.workload.steps = steps_to_replay(periods_of(config, plan), config.steps());
    const Trace trace = trace_of(begin);
    const Topology topology = placed_topology(config, plan);
    const NodeTraffic traffic = node_traffic(config, trace, topology, config.steps(), known_traffic_);
    evaluation.traffic = site_traffic(traffic, topology, config.network.tcp.segment);
    evaluation.busiest_s = busiest_s(traffic, topology, config.network.tcp);
    evaluation.price_per_hour = plan.takes_whole_batch && !plan.is_as_fast_as_all
                                    ? node_price_per_hour(plan_, site_of_first(topology, evaluation.traffic))
                                    : price_per_hour(plan_);
    if (is_double(evaluation, traffic_key(config, trace, topology))) return;
    if (!steps_differ(plan_)) evaluation.exchanges_of_any_h = key_of_any_h(config, trace, topology);
    all_.push_back(std::move(evaluation));
  }

  // The name of the site where rank 0 stands; "" on a network without sites.
  static std::string site_of_first(const Topology& topology, const SiteTraffic& traffic) {
    const std::vector<int>& sites = topology.site_of();
    return sites.empty() ? "" : traffic.sites.at(as_index(sites.front()));
  }

  // What a replay depends on, as far as candidates differ in it. Two orders of ranks may have the same
  // places, and two methods the same exchanges.
  static std::string traffic_key(const Case& config, Trace trace, const Topology& topology) {
    for (OperationRule& rule : trace.plan.rules) {
      rule.name.clear();
      for (PayloadPart& part : rule.payload) part.tensor.clear();
    }
    std::ostringstream key;
    key << config.steps() << ' ' << config.network.tcp.connections << '\n';
    key << format_number(config.workload.step_time.seconds);
    for (const double factor : config.workload.step_time_factors) key << ' ' << format_number(factor);
    key << '\n';
    if (config.network.fidelity != "analytic") key << config.network.tcp.slow_start_after_idle << '\n';
    for (const Link& link : topology.links())
      key << topology.node_name(link.first) << '>' << topology.node_name(link.second) << ' '
          << format_number(link.rate_forward) << ' ' << format_number(link.rate_backward) << ' '
          << format_number(link.delay_s) << '\n';
    trace.plan.keeps.clear();  // only a replica that comes back downloads it, and no plan has one
    write_trace(trace, key);
    return key.str();
  }

  // The same whatever H: what lies between two exchanges is compute alone.
  static std::string key_of_any_h(const Case& config, Trace trace, const Topology& topology) {
    for (OperationRule& rule : trace.plan.rules) rule.every = rule.phase = 1;
    trace.context.steps = 1;
    Case one = config;
    one.workload.steps = 1;
    return traffic_key(one, std::move(trace), topology);
  }

  // Whether a method has the same exchanges already. Of another method the replay serves this one too.
  bool is_double(Evaluation& evaluation, const std::string& key) {
    evaluation.exchanges = traffic_.emplace(key, traffic_.size()).first->second;
    return any_of(all_, [&](const Evaluation& other) {
      return other.exchanges == evaluation.exchanges && other.candidate.label == evaluation.candidate.label;
    });
  }

  void check_memory() {
    const auto fits = [](const Evaluation& evaluation) { return evaluation.memory.fits(); };
    if (any_of(all_, fits)) {
      for (const Evaluation& evaluation : all_)
        if (!fits(evaluation) && said_.insert(evaluation.candidate.method + " memory").second)
          result_.notes.push_back(fmt::format("{} is left out: {}", evaluation.candidate.method,
                                              memory_in_words(evaluation.memory)));
      drop_if(all_, [&](const Evaluation& evaluation) { return !fits(evaluation); });
      return;
    }
    throw InputError("accelerator", "no candidate fits: " + memory_in_words(all_.front().memory),
                     "more accelerators a node (per_node), more memory, or a smaller model");
  }

  using Numbers = std::vector<std::size_t>;

  ChoiceRule without_limits() const {
    ChoiceRule rule = result_.rule;
    rule.deadline_s = rule.budget = std::nullopt;
    return rule;
  }

  // What to take of those that are replayed.
  std::size_t choice(const ChoiceRule& rule) const {
    std::size_t best = all_.size();
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (all_[i].is_replayed && (best == all_.size() || rule.is_better(all_[i], all_[best]))) best = i;
    return best;
  }

  // In the order in which they are likely to be of use.
  void sort_by_expectation(Numbers& numbers, const ChoiceRule& rule) const {
    std::vector<Evaluation> likely(all_.size());
    for (const std::size_t number : numbers) {
      likely[number] = all_[number];
      likely[number].time.total_s = std::max(all_[number].total_s(), all_[number].expected_s);
      price(plan_, likely[number]);
    }
    // To fidelity analytic more connections are no faster where one fills the link; in others they start
    // sooner.
    stable_sort(numbers, [&](std::size_t a, std::size_t b) {
      if (rule.is_better(likely[a], likely[b])) return true;
      return !rule.is_better(likely[b], likely[a]) &&
             all_[a].config.network.tcp.connections > all_[b].config.network.tcp.connections;
    });
  }

  void tell(const Numbers& open) {
    result_.still_open = static_cast<int>(open.size());
    if (tools_.so_far)
      tools_.so_far(all_[choice(result_.rule)],
                    {open.size(), [&] { return replays_.estimated_cost_s(open); }});
  }

  int replays_left() const { return std::max(0, plan_.most_replays - replays_.count()); }

  // Methods are not equally good at equal tokens: of each there is one whose time is known, whatever its
  // place.
  void replay_one_of_each_method() {
    std::map<std::string, Numbers> of_method;
    for (std::size_t i = 0; i < all_.size(); ++i) of_method[all_[i].candidate.method].push_back(i);
    Numbers batch;
    for (auto& [method, numbers] : of_method) {
      sort_by_expectation(numbers, result_.rule);
      while (numbers.size() > 1 && replays_.may_be_estimated(numbers.front())) {
        replays_.estimate({numbers.front()}, "an estimate of " + method);
        sort_by_expectation(numbers, result_.rule);
      }
      if (!all_[numbers.front()].is_replayed) batch.push_back(numbers.front());
    }
    replays_.replay(batch, "the most promising of each method");
  }

  // Of those that are cheap to estimate first that: then fewer may be left. False: there are none.
  bool estimated(const Numbers& numbers) {
    Numbers coarse = numbers;
    drop_if(coarse, [&](std::size_t number) { return !replays_.may_be_estimated(number); });
    if (!coarse.empty()) replays_.estimate(coarse, "estimates");
    return !coarse.empty();
  }

  // Until nothing that is left may be better than the best that is replayed.
  void replay_choice(const ChoiceRule& rule) {
    for (;;) {
      Numbers open;
      for (std::size_t i = 0; i < all_.size(); ++i)
        if (!all_[i].is_replayed && rule.is_better(all_[i], all_[choice(rule)])) open.push_back(i);
      tell(open);
      if (open.empty() || replays_left() == 0) return;
      sort_by_expectation(open, rule);
      open.resize(std::min({open.size(), kReplaysAtOnce, as_index(replays_left())}));
      if (!estimated(open)) replays_.replay(open, "replay of the most promising");
    }
  }

  Numbers of_recipe(const std::string& recipe) const {
    Numbers numbers;
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (all_[i].candidate.recipe == recipe) numbers.push_back(i);
    stable_sort(numbers, [&](std::size_t a, std::size_t b) {
      return all_[a].candidate.inner_steps < all_[b].candidate.inner_steps;
    });
    return numbers;
  }

  void replay_every_h() {
    Numbers missing;
    for (const std::size_t number : of_recipe(all_[choice(result_.rule)].candidate.recipe))
      if (!all_[number].is_replayed) missing.push_back(number);
    replays_.replay(missing, "every H of the choice");
  }

  bool is_eligible(const Evaluation& evaluation) const {
    return result_.rule.is_eligible(evaluation, all_[choice(result_.rule)]);
  }

  std::string why_left_out(const Evaluation& evaluation) const {
    const ChoiceRule& rule = result_.rule;
    if (rule.deadline_s && evaluation.total_s() > *rule.deadline_s) return "takes longer than the deadline";
    if (rule.budget && evaluation.cost() > *rule.budget) return "costs more than the budget";
    return fmt::format("computes {} of the time", rule.share_in_words(evaluation.utilization));
  }

  Numbers open_on_front() const {
    Numbers open;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const Evaluation& evaluation = all_[i];
      if (evaluation.is_replayed || !is_eligible(evaluation)) continue;
      const bool is_ruled_out = any_of(all_, [&](const Evaluation& other) {
        return other.is_replayed && is_eligible(other) && is_no_worse(other, evaluation, 0);
      });
      if (!is_ruled_out) open.push_back(i);
    }
    return open;
  }

  // At each H one after the other: what is replayed there rules out others of this H and of larger ones.
  void replay_front() {
    for (;;) {
      Numbers open = open_on_front();
      tell(open);
      if (open.empty() || replays_left() == 0) return;
      sort_by_expectation(open, result_.rule);
      Numbers batch;
      std::set<int> taken;
      for (const std::size_t number : open)
        if (batch.size() < std::min(kReplaysAtOnce, as_index(replays_left())) &&
            taken.insert(inner_steps_of(all_[number])).second)
          batch.push_back(number);
      if (!estimated(batch)) replays_.replay(batch, "replay of the front");
    }
  }

  void collect() {
    const ChoiceRule& rule = result_.rule;
    const Evaluation& chosen = all_[choice(result_.rule)];
    const std::size_t free = choice(without_limits());
    if (&all_[free] != &chosen) result_.without_limits = all_[free];
    std::vector<Evaluation> found;
    for (const Evaluation& evaluation : all_)
      if (evaluation.is_replayed) found.push_back(evaluation);
    result_.not_replayed = static_cast<int>(all_.size() - found.size());
    result_.estimated = static_cast<int>(count_if(all_, [](const Evaluation& evaluation) {
      return evaluation.is_estimated && !evaluation.is_replayed;
    }));
    result_.replays = replays_.count();
    for (Evaluation& evaluation : found)
      if (!is_eligible(evaluation)) evaluation.left_out = why_left_out(evaluation);
    const Numbers front = pareto_front(found, rule);
    std::vector<bool> is_front(found.size());
    for (const std::size_t number : front) {
      is_front[number] = true;
      result_.evaluations.push_back(found[number]);
    }
    result_.front = front.size();
    std::vector<Evaluation> others;
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!is_front[i]) others.push_back(found[i]);
    stable_sort(others, [&](const Evaluation& a, const Evaluation& b) { return rule.is_better(a, b); });
    result_.evaluations.insert(result_.evaluations.end(), others.begin(), others.end());
    for (const std::size_t number : of_recipe(chosen.candidate.recipe))
      result_.of_choice.push_back(all_[number]);
  }

  const PlanRequest& plan_;
  const PlannedNetwork& network_;
  const TokenNeeds& needs_;
  const PlanTools& tools_;
  std::vector<Evaluation> all_;
  std::map<std::string, std::size_t> traffic_;  // numbers of what replays depend on
  std::set<std::string> said_;
  KnownTraffic known_traffic_;
  SearchResult result_;
  CandidateReplays replays_;
};

}  // namespace

SearchResult search_plan(const PlanRequest& plan, const PlannedNetwork& network, const TokenNeeds& needs,
                         const PlanTools& tools) {
  return Search(plan, network, needs, tools).run();
}

std::vector<const Evaluation*> best_of_each_method(const SearchResult& search) {
  std::vector<const Evaluation*> best;
  for (const Evaluation& evaluation : search.evaluations)
    if (none_of(best, [&](const Evaluation* other) {
          return other->candidate.method == evaluation.candidate.method;
        }))
      best.push_back(&evaluation);
  return best;
}

}  // namespace longhaul
