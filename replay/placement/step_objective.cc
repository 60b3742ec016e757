#include "replay/placement/step_objective.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/index.h"
#include "net/library.h"

namespace longhaul {
namespace {

constexpr std::size_t kMostKnown = 100000;
constexpr int kDrawnMicrobatches = 32, kMostDrawnSteps = 8, kMostGridRounds = 12;
constexpr std::uint64_t kDrawsSeed = 0x706c616365;  // of no case

std::vector<int> posted_steps(const OperationRule& rule, int steps) {
  std::vector<int> posted;
  for (int step = 1; step <= steps; ++step)
    if (is_posted_at(rule, steps, step)) posted.push_back(step);
  return posted;
}

bool is_drawn(const OperationRule& rule) {
  return rule.grouping == Grouping::kRandom || rule.grouping == Grouping::kSites ||
         has_targets(rule.grouping);
}

// Operations one after another that take as long as those of an exchange: where a library runs several at a
// time they share a path's rate, and as many messages are on their way together.
int rounds_of_operations(const OperationRule& rule, const NetworkSpec& network) {
  const int at_a_time = rule.together ? library_named(network.library).at_a_time : 1;
  return (operation_count(rule) + at_a_time - 1) / at_a_time;
}

}  // namespace

// Of everyone, at the first step that posts one: one operation, of their mean size.
GroupExchange whole_exchange(const OperationPlan& plan, const PlanContext& context, const OperationRule& rule,
                             const std::vector<int>& posted) {
  GroupExchange exchange{context.replicas, 0, static_cast<int>(rule.payload.size())};
  if (posted.empty()) return exchange;
  for (const Operation& operation : operations_at(plan, context, posted.front()))
    if (operation.rule == &rule) exchange.bytes = operation.bytes / operation_count(rule);
  return exchange;
}

// The exchange of one stage, with what is known of it by the sites of the stage's workers.
class StepObjective::StageExchange {
 public:
  using Times = CostGraph::Times;

  StageExchange(const OperationPlan& plan, const PlanContext& context, const OperationRule& rule,
                const std::vector<int>& posted, const NetworkSpec& network)
      : rule_(rule),
        rounds_(rounds_of_operations(rule, network)),
        collective_(collective_of(network, rule, whole_exchange(plan, context, rule, posted))) {
    const int rounds = rule.grouping == Grouping::kGrid ? kMostGridRounds : 1;
    for (const int step : posted) {
      if (static_cast<int>(groups_.size()) == rounds) break;
      for (const Operation& operation : operations_at(plan, context, step))
        if (operation.rule == &rule) {
          bytes_ = operation.bytes / rounds_;
          groups_.push_back(rule.grouping == Grouping::kGrid ? operation.groups
                                                             : std::vector<std::vector<int>>());
        }
    }
  }

  // `site_of`: of the stage's workers, by replica.
  Times times(const std::vector<int>& site_of, const SitePaths& paths, std::int64_t& evaluated) {
    const auto found = known_.find(site_of);
    if (found != known_.end()) return found->second;
    if (known_.size() >= kMostKnown) known_.clear();
    Times times = one_round(site_of, paths, evaluated);
    times.last_s *= rounds_;
    times.mean_s *= rounds_;
    return known_[site_of] = times;
  }

 private:
  Times one_round(const std::vector<int>& site_of, const SitePaths& paths, std::int64_t& evaluated) {
    if (is_drawn(rule_)) return of_drawn_group(site_of, paths, evaluated);
    if (rule_.grouping != Grouping::kGrid) return of_group(site_of, paths, evaluated);
    Times mean;
    for (const std::vector<std::vector<int>>& groups : groups_) {
      Times round;
      for (const std::vector<int>& group : groups) {
        std::vector<int> sites;
        for (const int replica : group) sites.push_back(site_of[as_index(replica)]);
        const Times times = of_group(sites, paths, evaluated);
        round.last_s = std::max(round.last_s, times.last_s);
        round.mean_s += times.mean_s / static_cast<double>(groups.size());
      }
      mean.last_s += round.last_s / static_cast<double>(groups_.size());
      mean.mean_s += round.mean_s / static_cast<double>(groups_.size());
    }
    return mean;
  }

  Times of_group(const std::vector<int>& site_of, const SitePaths& paths, std::int64_t& evaluated) {
    const int members = static_cast<int>(site_of.size());
    if (members < 2) return {};
    if (collective_.shape(members) == Collective::Shape::kRing &&
        collective_.purpose() == Collective::Purpose::kAllReduce) {
      const double round_s = ring_round_s(site_of, paths.hop_costs(static_cast<double>(bytes_) / members));
      evaluated += members;
      return {2 * (members - 1) * round_s, 2 * (members - 1) * round_s};
    }
    if (!collective_.needs_sites()) return evaluate(graph_of(members), site_of, paths, evaluated);
    CostGraph once = CostGraph::of_exchange(collective_, exchange_of(members, site_of));
    return evaluate(once, site_of, paths, evaluated);
  }

  static Times evaluate(CostGraph& graph, const std::vector<int>& site_of, const SitePaths& paths,
                        std::int64_t& evaluated) {
    evaluated += graph.size();
    return graph.times(site_of, paths);
  }

  Times of_drawn_group(const std::vector<int>& site_of, const SitePaths& paths, std::int64_t& evaluated) {
    SitePath mean;
    const int members = static_cast<int>(site_of.size());
    if (members < 2) return {};
    for (int i = 0; i < members; ++i)
      for (int j = 0; j < members; ++j) {
        if (i == j) continue;
        const SitePath& path = paths.between(site_of[as_index(i)], site_of[as_index(j)]);
        mean.latency_s += path.latency_s / (members * (members - 1));
        mean.s_per_byte += path.s_per_byte / (members * (members - 1));
      }
    evaluated += std::int64_t{members} * members;
    // Of targets: as many messages of its own as a replica sends, which the network carries beside each
    // other.
    if (has_targets(rule_.grouping)) {
      const double message_s = mean.latency_s + static_cast<double>(bytes_) * mean.s_per_byte;
      return {message_s, message_s};
    }
    const int grouped = std::min(rule_.group_size, members);
    return evaluate(graph_of(grouped), std::vector<int>(as_index(grouped)), SitePaths(mean), evaluated);
  }

  GroupExchange exchange_of(int members, const std::vector<int>& site_of) const {
    GroupExchange exchange{members, bytes_, static_cast<int>(rule_.payload.size())};
    exchange.site_of = site_of;
    return exchange;
  }

  CostGraph& graph_of(int members) {
    auto found = graphs_.find(members);
    if (found == graphs_.end())
      found = graphs_.emplace(members, CostGraph::of_exchange(collective_, exchange_of(members, {}))).first;
    return found->second;
  }

  const OperationRule& rule_;
  const int rounds_;  // of operations
  const Collective& collective_;
  std::int64_t bytes_ = 0;                             // of a round
  std::vector<std::vector<std::vector<int>>> groups_;  // of a grid, by round
  std::map<int, CostGraph> graphs_;                    // by members
  std::map<std::vector<int>, Times> known_;            // by sites
};

StepObjective::StepObjective(const Case& config, const OperationPlan& plan, const SitePaths& paths)
    : plan_(plan), paths_(paths), replicas_(config.replicas), stages_(plan.pipeline.stages) {
  const std::vector<double>& factors = config.workload.step_time_factors;
  for (int worker = 0; worker < config.workers(); ++worker) {
    const auto number = as_index(worker);
    model_s_.push_back(config.workload.step_time.mean_s() * (factors.empty() ? 1 : factors[number]));
    if (worker >= stages_ && model_s_[number] != model_s_[number - as_index(stages_)])
      are_replicas_alike_ = false;
  }
  PipelinePlan pipeline = plan.pipeline;
  pipeline.skip = 0;  // as if no micro-batch left parts out
  pipeline.reorders = false;
  pipeline.orders.clear();
  if (pipeline.routing == MicrobatchRouting::kStraight) {
    step_passes_.emplace_back(pipeline, 1, kDrawsSeed, 1);
  } else {
    pipeline.routing = MicrobatchRouting::kRandom;  // also where measured throughput decides
    const int steps = std::clamp((kDrawnMicrobatches + pipeline.microbatches - 1) / pipeline.microbatches, 1,
                                 kMostDrawnSteps);
    for (int step = 1; step <= steps; ++step)
      step_passes_.emplace_back(pipeline, replicas_, kDrawsSeed, step);
  }
  add_operations(config);
}

StepObjective::~StepObjective() = default;

// with_stages() leaves the rules of an operation side by side, in the order of the stages.
void StepObjective::add_operations(const Case& config) {
  const PlanContext context{config.seed, config.replicas, config.steps(), config.workload.parameters,
                            std::vector<int>(as_index(config.replicas))};
  int last_stage = stages_;
  for (const OperationRule& rule : plan_.rules) {
    const std::vector<int> posted = posted_steps(rule, config.steps());
    if (rule.stage <= last_stage) {
      double share = static_cast<double>(posted.size()) / config.steps();
      if (rule.grouping == Grouping::kTwoLevel) share /= rule.across_every;  // inside a site it costs little
      operations_.push_back({share, rule.overlap_steps, {}});
    }
    last_stage = rule.stage;
    std::vector<std::unique_ptr<StageExchange>>& stages = operations_.back().stages;
    stages.resize(as_index(stages_));
    if (!posted.empty())
      stages[as_index(rule.stage)] =
          std::make_unique<StageExchange>(plan_, context, rule, posted, config.network);
  }
}

StepObjective::Passes StepObjective::straight_passes(const std::vector<int>& site_of) {
  Passes all;
  if (known_.size() >= kMostKnown) known_.clear();
  for (int replica = 0; replica < replicas_; ++replica) {
    const auto first = as_index(replica * stages_), end = first + as_index(stages_);
    std::vector<int> key(site_of.begin() + static_cast<std::ptrdiff_t>(first),
                         site_of.begin() + static_cast<std::ptrdiff_t>(end));
    const std::vector<int> sites = key;
    if (!are_replicas_alike_) key.push_back(replica);
    auto found = known_.find(key);
    if (found == known_.end()) {
      evaluated_ += step_passes_.front().size();
      const std::vector<double> model_s(model_s_.begin() + static_cast<std::ptrdiff_t>(first),
                                        model_s_.begin() + static_cast<std::ptrdiff_t>(end));
      found = known_.emplace(key, step_passes_.front().ends_s(sites, paths_, model_s)).first;
    }
    const std::vector<double>& ends_s = found->second;
    all.ends_s.insert(all.ends_s.end(), ends_s.begin(), ends_s.end());
    const double last_s = *std::max_element(ends_s.begin(), ends_s.end());
    all.last_s = std::max(all.last_s, last_s);
    all.mean_s += last_s / replicas_;
  }
  return all;
}

StepObjective::Passes StepObjective::drawn_passes(const std::vector<int>& site_of) {
  Passes all;
  all.ends_s.resize(site_of.size());
  const auto steps = static_cast<double>(step_passes_.size());
  for (StepPasses& of_step : step_passes_) {
    evaluated_ += of_step.size();
    const std::vector<double> ends_s = of_step.ends_s(site_of, paths_, model_s_);
    for (std::size_t worker = 0; worker < ends_s.size(); ++worker)
      all.ends_s[worker] += ends_s[worker] / steps;
    all.last_s += *std::max_element(ends_s.begin(), ends_s.end()) / steps;
  }
  all.mean_s =
      std::accumulate(all.ends_s.begin(), all.ends_s.end(), 0.) / static_cast<double>(site_of.size());
  return all;
}

StepObjective::Passes StepObjective::passes(const std::vector<int>& site_of) {
  return plan_.pipeline.routing == MicrobatchRouting::kStraight ? straight_passes(site_of)
                                                                : drawn_passes(site_of);
}

void StepObjective::add_cost(MethodOperation& operation, const std::vector<int>& site_of,
                             const Passes& passes, PlaceCost& cost) {
  double done_s = 0, longest_s = 0, mean_s = 0;
  for (int stage = 0; stage < stages_; ++stage) {
    StageExchange* exchange = operation.stages[as_index(stage)].get();
    if (!exchange) continue;
    std::vector<int> sites;
    double ready_s = 0;
    for (int replica = 0; replica < replicas_; ++replica) {
      const auto worker = as_index(worker_of(replica, stage, stages_));
      sites.push_back(site_of[worker]);
      ready_s = std::max(ready_s, passes.ends_s[worker]);
    }
    const StageExchange::Times times = exchange->times(sites, paths_, evaluated_);
    done_s = std::max(done_s, ready_s + times.last_s);
    longest_s = std::max(longest_s, times.last_s);
    mean_s += times.mean_s / stages_;
  }
  const double exposed_s = operation.overlap_steps == 0 ? done_s - passes.last_s
                                                        : longest_s - operation.overlap_steps * passes.last_s;
  cost.seconds += operation.share * std::max(0., exposed_s);
  cost.mean_s += operation.share * mean_s;
}

PlaceCost StepObjective::cost(const std::vector<int>& site_of) {
  const Passes all = passes(site_of);
  PlaceCost cost{all.last_s, all.mean_s};
  for (MethodOperation& operation : operations_) add_cost(operation, site_of, all, cost);
  return cost;
}

}  // namespace longhaul
