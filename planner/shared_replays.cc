#include "planner/shared_replays.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "core/base/index.h"
#include "core/base/ranges.h"
#include "methods/common/registry.h"
#include "net/tcp/connection.h"
#include "planner/exchange_turns.h"
#include "planner/extrapolation.h"
#include "replay/placement/optimized_order.h"

namespace longhaul {
namespace {

// Several that one replay may serve: of the first one, whose exchanges follow one another the soonest.
struct Group {
  std::vector<std::size_t> members;
  std::vector<Turn> turns;  // as many as the member with the most needs
  int steps = 0;            // of the first one, until they are over
};

bool is_even(const Case& config, const OperationPlan& plan) {
  const Periods periods = periods_of(config, plan);
  const NetworkSpec& network = config.network;
  return !periods.is_drawn() && periods.settling == 0 && network.variation.is_empty() &&
         config.faults.empty() && network.library == "plain" && network.fidelity != "linux" &&
         config.workload.step_time.kind == StepTime::Kind::kConstant;
}

// How long connections must have been silent so that all of them start again with their first window, however
// large it was. 0 where silence changes nothing.
double least_silence_s(const Case& config, const std::string& fidelity) {
  if (fidelity == "analytic" || !config.network.tcp.slow_start_after_idle) return 0;
  constexpr double kLargestWindow = 1 << 30;  // bytes
  constexpr int kAllPairs = 64;  // replicas; of more, those with the first one, and far more time
  const Topology topology = placed_topology(config, plan_of(config));
  const int replicas = topology.replicas();
  double longest_s = 0;
  for (int from = 0; from < (replicas <= kAllPairs ? replicas : 1); ++from)
    for (int to = 0; to < replicas; ++to)
      if (from != to)
        longest_s = std::max(longest_s, connection_facts(topology, config.network.tcp, from, to).rtt_s);
  if (replicas > kAllPairs) longest_s *= 4;
  const double halvings = 1 + std::log2(kLargestWindow / config.network.tcp.segment);
  return halvings * retransmission_timeout_s(longest_s);
}

class SharedReplays {
 public:
  SharedReplays(const std::vector<WantedReplay>& wanted, const PlanTools& tools, const std::string& phase)
      : wanted_(wanted), tools_(tools), phase_(phase), found_(wanted.size()) {}

  std::vector<SharedReplay> run(int& replays) {
    std::map<std::string, std::vector<std::size_t>> by_exchanges;
    for (std::size_t i = 0; i < wanted_.size(); ++i)
      if (!wanted_[i].exchanges.empty())
        by_exchanges[wanted_[i].exchanges + wanted_[i].collective].push_back(i);
      else if (wanted_[i].is_needed)
        alone_.push_back(i);
    for (const auto& [exchanges, members] : by_exchanges) add(members);
    while (!groups_.empty() || !alone_.empty()) replay(replays);
    return std::move(found_);
  }

 private:
  std::optional<Group> group_of(std::vector<std::size_t> members) const {
    const auto inner = [&](std::size_t member) {
      return periods_of(*wanted_[member].config, plan_of(*wanted_[member].config)).length;
    };
    std::stable_sort(members.begin(), members.end(),
                     [&](std::size_t a, std::size_t b) { return inner(a) < inner(b); });
    const auto is_needed = [&](std::size_t member) { return wanted_[member].is_needed; };
    members.erase(members.begin(), find_if(members, is_needed));
    if (members.size() < 2) return std::nullopt;
    Group group{members, {}, 0};
    const Case& config = *wanted_[members.front()].config;
    const OperationPlan plan = plan_of(config);
    if (!is_even(config, plan)) return std::nullopt;
    std::vector<std::vector<Turn>> of_members;
    std::size_t most = 0;
    for (const std::size_t member : members) {
      const auto turns = turns_of(plan_of(*wanted_[member].config), wanted_[member].steps);
      if (!turns || turns->empty()) return std::nullopt;
      most = std::max(most, turns->size());
      of_members.push_back(*turns);
    }
    // Of the first member's steps so many that it has them all.
    for (group.steps = wanted_[members.front()].steps; group.steps <= config.steps();
         group.steps += std::max(1, inner(members.front()))) {
      const auto turns = turns_of(plan, group.steps);
      if (!turns) return std::nullopt;
      group.turns = *turns;
      if (group.turns.size() >= most) break;
    }
    if (group.turns.size() < most || group.steps > config.steps()) return std::nullopt;
    for (const std::vector<Turn>& turns : of_members)
      if (!are_same_turns(group.turns, turns)) return std::nullopt;
    return group;
  }

  // To be replayed together, or each alone.
  void add(const std::vector<std::size_t>& members) {
    if (std::optional<Group> group = group_of(members))
      groups_.push_back(std::move(*group));
    else
      std::copy_if(members.begin(), members.end(), std::back_inserter(alone_),
                   [&](std::size_t member) { return wanted_[member].is_needed; });
  }

  ReplayTask task_of(std::size_t number, int steps) const {
    const WantedReplay& one = wanted_[number];
    ReplayTask task = first_steps(*one.config, steps, one.fidelity, one.name);
    if (!one.collective.empty())
      for (OperationRule& rule : task.trace.plan.rules) rule.collective = one.collective;
    return task;
  }

  // Steps whose clocks the first one of the group is asked for, and those of its turns.
  std::vector<int> kept_steps(const Group& group) const {
    std::vector<int> kept = own_steps(group.members.front());
    for (const int step : steps_of_turns(group.turns)) kept.push_back(step);
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    return kept;
  }
  std::vector<int> own_steps(std::size_t number) const {
    std::vector<int> kept = task_of(number, wanted_[number].steps).kept;
    kept.push_back(wanted_[number].steps);
    return kept;
  }

  void replay(int& replays) {
    const std::vector<Group> groups = std::exchange(groups_, {});
    std::vector<std::size_t> alone = std::exchange(alone_, {});
    std::sort(alone.begin(), alone.end());
    std::vector<ReplayTask> tasks;
    for (const Group& group : groups) {
      tasks.push_back(task_of(group.members.front(), group.steps));
      tasks.back().kept = kept_steps(group);
    }
    for (const std::size_t number : alone) tasks.push_back(task_of(number, wanted_[number].steps));
    tools_.replay(tasks, phase_);
    replays += static_cast<int>(tasks.size());
    for (std::size_t i = 0; i < groups.size(); ++i) serve(groups[i], tasks[i]);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      const ReplayTask& task = tasks[groups.size() + i];
      found_[alone[i]] = {task.times, task.error, true};
    }
  }

  // The first of the group, and the others if its exchanges took turns indeed; else these by themselves.
  void serve(const Group& group, const ReplayTask& task) {
    const std::size_t number = group.members.front();
    const WantedReplay& first = wanted_[number];
    const std::vector<std::size_t> others(group.members.begin() + 1, group.members.end());
    if (!task.times) {
      found_[number].error = task.error;
      return add(others);
    }
    found_[number].times = std::make_shared<const ReplayedTimes>(
        beginning_of(*task.times, task.kept, group.steps, own_steps(number)));
    const auto waits_s = waits_of(*task.times, task.kept, group.turns, group.steps,
                                  least_silence_s(*first.config, first.fidelity));
    if (!waits_s) return add(others);
    const double step_s = task.times->totals.front().compute_s / group.steps;
    for (const std::size_t member : others) {
      const WantedReplay& one = wanted_[member];
      found_[member].times = std::make_shared<const ReplayedTimes>(
          times_with(*waits_s, turns_of(plan_of(*one.config), one.steps).value(), step_s, own_steps(member)));
    }
  }

  const std::vector<WantedReplay>& wanted_;
  const PlanTools& tools_;
  const std::string& phase_;
  std::vector<SharedReplay> found_;
  std::vector<Group> groups_;       // still to be replayed
  std::vector<std::size_t> alone_;  // those without a group too
};

}  // namespace

std::vector<SharedReplay> replay_shared(const std::vector<WantedReplay>& wanted, const PlanTools& tools,
                                        const std::string& phase, int& replays) {
  return SharedReplays(wanted, tools, phase).run(replays);
}

}  // namespace longhaul
