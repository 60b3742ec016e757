#include "replay/step_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/random.h"
#include "core/plan/paths.h"
#include "net/library.h"
#include "replay/synchronizer.h"

namespace longhaul {
namespace {

// Of one operation. `shape`: of the group.
void add_connections(const OperationRule& rule, const GroupExchange& shape, const std::vector<int>& group,
                     const NetworkSpec& network, std::set<std::pair<int, int>>& found) {
  if (shape.members < 2) return;
  const Lowering lowering = lowered(network, rule, shape);
  const Collective& collective = *lowering.collective;
  const bool answers =
      lowering.rules.start == MessageStart::kAnnounced || lowering.rules.start == MessageStart::kRendezvous;
  for (int member = 0; member < shape.members; ++member)
    for (int index = 0; index < collective.rounds(shape); ++index)
      for (const Message& message : collective.round(shape, member, index).sends) {
        const int source = group[as_index(member)], target = group[as_index(message.peer)];
        found.insert({source, target});
        if (answers) found.insert({target, source});
      }
}

void add_connections(const Operation& exchange, const std::vector<int>& group,
                     const std::vector<int>& site_of, const NetworkSpec& network,
                     std::set<std::pair<int, int>>& found) {
  if (exchange.rule->kind == OperationKind::kMerge) {
    for (const int replica : group)
      if (replica != Synchronizer::kPlace) {
        found.insert({replica, Synchronizer::kPlace});
        found.insert({Synchronizer::kPlace, replica});
      }
    return;
  }
  // Any two members may be neighbours: by who is in time, or in another round.
  if (!exchange.rule->completion.is_all() || !exchange.parts.empty())
    for (const int source : group)
      for (const int target : group)
        if (source != target) found.insert({source, target});
  // A library may choose another collective for each size.
  std::map<std::int64_t, int> sizes = {{exchange.bytes, 1}};
  if (!exchange.rule->sizes.empty()) sizes = operations_by_bytes(exchange);
  for (const auto& [bytes, count] : sizes)
    add_connections(*exchange.rule,
                    group_exchange(group, bytes, exchange.rule->payload.size(), site_of, exchange.targets,
                                   exchange.parts),
                    group, network, found);
}
// Each run keeps a copy of its operation: with the groups of all, 512 pairs would copy 512 groups each.
std::vector<std::vector<int>> take_groups(Operation& exchange, int replicas) {
  std::vector<std::vector<int>> groups = groups_of(exchange, replicas);
  exchange.groups.clear();
  return groups;
}

// From part to part: inside each replica, or between any two.
void add_hops(const Trace& trace, std::set<std::pair<int, int>>& found) {
  const PipelinePlan& plan = trace.plan.pipeline;
  if (!plan.has_stages()) return;
  const bool is_straight = plan.routing == MicrobatchRouting::kStraight;
  const int replicas = trace.context.replicas;
  for (const auto& [part, next] : hops_of(plan))
    for (int from = 0; from < replicas; ++from)
      for (int to = is_straight ? from : 0; to < (is_straight ? from + 1 : replicas); ++to) {
        const int sender = worker_of(from, plan.stage_of(part), plan.stages),
                  receiver = worker_of(to, plan.stage_of(next), plan.stages);
        found.insert({sender, receiver});
        found.insert({receiver, sender});
      }
}

}  // namespace

std::vector<int> workers_of(const OperationPlan& plan, const OperationRule& rule, std::vector<int> group) {
  if (rule.stage >= 0)
    for (int& member : group) member = worker_of(member, rule.stage, plan.pipeline.stages);
  return group;
}

int worker_count(const Trace& trace) {
  return trace.context.replicas * trace.plan.pipeline.stages;
}

StepTimes::StepTimes(const Case& config, const Trace& trace)
    : rule_(config.workload.step_time), factors_(config.workload.step_time_factors), trace_(trace) {
  if (rule_.kind != StepTime::Kind::kMeasured) return;
  const auto steps = as_index(trace.context.steps),
             workers = as_index(training_replicas(trace.plan, trace.context.replicas));
  bool is_complete = trace.measured_s.size() >= steps;
  for (const auto& step : trace.measured_s) is_complete = is_complete && step.size() == workers;
  if (!is_complete)
    throw InputError("compute_s", fmt::format("found measured times of {} steps", trace.measured_s.size()),
                     fmt::format("one line with a time of every replica for each of {} steps", steps),
                     "workload.step_time is measured: train first");
}

double StepTimes::seconds(int worker, int step) const {
  if (trace_.plan.takes_whole_batch) return whole_batch_s(step);
  const double drawn = drawn_s(worker, step);
  return factors_.empty() ? drawn : drawn * factors_[as_index(worker)];
}

// What was measured is of the whole batch.
double StepTimes::whole_batch_s(int step) const {
  const bool is_measured = rule_.kind == StepTime::Kind::kMeasured;
  const double one_s = drawn_s(0, step) / (is_measured ? trace_.context.replicas : 1);
  return one_s * whole_batch_steps(trace_.plan, factors_, trace_.context.replicas);
}

double StepTimes::drawn_s(int worker, int step) const {
  if (rule_.kind == StepTime::Kind::kConstant) return rule_.seconds;
  if (rule_.kind == StepTime::Kind::kMeasured)
    return trace_.measured_s[as_index(step - 1)][as_index(worker / trace_.plan.pipeline.stages)];
  RandomStream stream(trace_.context.seed, Purpose::kStepTime, static_cast<std::uint32_t>(worker),
                      static_cast<std::uint32_t>(step));
  return stream.lognormal(rule_.mu, rule_.sigma);
}

StepPlan::StepPlan(const Trace& trace, int step)
    : program_(program_of_step(trace.plan, trace.context.steps, step)),
      stages_(trace.plan.pipeline.stages),
      runs_of_(as_index(worker_count(trace))) {}

template <typename Add>
void StepPlan::add_groups(const Trace& trace, int step, const Add& add) {
  for (Operation& exchange : trace.operations_at(step)) {
    const int rule = rule_index(trace.plan, exchange);
    if (exchange.rule->kind == OperationKind::kMerge) continue;  // synchronizer.h
    for (const auto& group : take_groups(exchange, trace.context.replicas)) add(exchange, rule, group);
  }
}

StepPlan::StepPlan(const ExchangeContext& context, const Trace& trace, const Crews& crews, int step,
                   const MemberDone& on_member_done)
    : StepPlan(trace, step) {
  add_groups(trace, step, [&](const Operation& exchange, int rule, const std::vector<int>& group) {
    const int stage = exchange.rule->stage;
    std::vector<int> workers = crews.is_original(stage, step) ? workers_of(trace.plan, *exchange.rule, group)
                                                              : crews.workers_of(stage, step);
    if (workers.size() < 2) return;
    if (exchange.rule->completion.is_all())
      keep(std::make_unique<BucketedExchange>(context, exchange, rule, std::move(workers),
                                              done_of_next(on_member_done)));
    else
      keep(std::make_unique<AttendedExchange>(context, exchange, rule, std::move(workers), std::vector<int>(),
                                              false, done_of_next(on_member_done)));
  });
}

StepPlan::StepPlan(const ExchangeContext& context, const Trace& trace, const Attendance& attendance, int step,
                   const MemberDone& on_member_done)
    : StepPlan(trace, step) {
  add_groups(trace, step, [&](const Operation& exchange, int rule, std::vector<int> group) {
    const bool is_of_everyone = exchange.rule->is_of_everyone();
    const auto stays_away = [&](int replica) {
      const Attendance::Role role = attendance.roles[as_index(replica)];
      return role != Attendance::Role::kMember && !(is_of_everyone && role == Attendance::Role::kListener);
    };
    group.erase(std::remove_if(group.begin(), group.end(), stays_away), group.end());
    if (group.size() > 1 || is_of_everyone)
      add_attended(context, exchange, rule, group, attendance, on_member_done);
  });
}

void StepPlan::add_attended(const ExchangeContext& context, const Operation& exchange, int rule,
                            const std::vector<int>& group, const Attendance& attendance,
                            const MemberDone& on_member_done) {
  const int stage = std::max(0, exchange.rule->stage);
  const auto of_stage = [&](std::vector<int> replicas) {
    for (int& member : replicas) member = worker_of(member, stage, stages_);
    return replicas;
  };
  std::vector<int> listeners;
  for (const int replica : group)
    if (attendance.roles[as_index(replica)] == Attendance::Role::kListener) listeners.push_back(replica);
  Operation of_workers = exchange;
  if (stages_ > 1 && !exchange.targets.empty()) {
    of_workers.targets.assign(runs_of_.size(), {});
    for (std::size_t replica = 0; replica < exchange.targets.size(); ++replica)
      of_workers.targets[replica * as_index(stages_) + as_index(stage)] = of_stage(exchange.targets[replica]);
  }
  auto run =
      std::make_unique<AttendedExchange>(context, of_workers, rule, of_stage(group), of_stage(listeners),
                                         attendance.discards, done_of_next(on_member_done));
  attended_.push_back(run.get());
  keep(std::move(run));
}

std::function<void(int)> StepPlan::done_of_next(const MemberDone& on_member_done) const {
  return [this, index = runs_.size(), on_member_done](int worker) { on_member_done(*runs_[index], worker); };
}

void StepPlan::keep(std::unique_ptr<GroupOperation> run) {
  for (const int worker : run->group()) runs_of_[as_index(worker)].push_back(run.get());
  runs_.push_back(std::move(run));
}

void StepPlan::lose(int replica) {
  each_attended(replica, &AttendedExchange::lose);
  for (int stage = 0; stage < stages_; ++stage)
    runs_of_[as_index(worker_of(replica, stage, stages_))].clear();
}

void StepPlan::admit(int replica, bool listens) {
  for (AttendedExchange* run : attended_) {
    const int worker = worker_of(replica, std::max(0, run->rule().stage), stages_);
    if (run->rule().is_of_everyone() && run->admit(worker, listens))
      runs_of_[as_index(worker)].push_back(run);
  }
}

void StepPlan::each_attended(int replica, void (AttendedExchange::*does)(int)) {
  for (int stage = 0; stage < stages_; ++stage)
    for (AttendedExchange* run : attended_) (run->*does)(worker_of(replica, stage, stages_));
}

void StepPlan::release(int replica) {
  for (int stage = 0; stage < stages_; ++stage) {
    const int worker = worker_of(replica, stage, stages_);
    const std::vector<GroupOperation*> runs = runs_of_[as_index(worker)];
    for (GroupOperation* run : runs)
      for (int bucket = 0; bucket < run->rule().buckets; ++bucket) run->release(worker);
  }
}

void StepPlan::redo(int replica, int step) {
  for (AttendedExchange* run : attended_) run->redo(replica, run->step() < step);
}

bool StepPlan::is_finished() const {
  return std::all_of(attended_.begin(), attended_.end(),
                     [](const AttendedExchange* run) { return run->is_finished(); });
}

GroupOperation* StepPlan::run_of(int worker, int rule) const {
  for (GroupOperation* run : runs_of_[as_index(worker)])
    if (run->rule_index() == rule) return run;
  return nullptr;
}

std::vector<std::string> StepPlan::waiting() const {
  std::vector<std::string> lines;
  for (const auto& run : runs_)
    if (!run->is_finished())
      for (std::string& line : run->waiting()) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::pair<int, int>> used_connections(const Trace& trace, const std::vector<int>& site_of,
                                                  const NetworkSpec& network) {
  std::set<std::pair<int, int>> found;
  std::set<const OperationRule*> known;  // rules among everyone use the same connections every time
  for (int step = 1; step <= trace.context.steps; ++step)
    for (const Operation& exchange : trace.operations_at(step)) {
      const bool is_everyone = exchange.groups.empty() && exchange.targets.empty();
      if (is_everyone && !known.insert(exchange.rule).second) continue;
      for (const auto& group : groups_of(exchange, trace.context.replicas))
        add_connections(exchange, workers_of(trace.plan, *exchange.rule, group), site_of, network, found);
    }
  add_hops(trace, found);
  return {found.begin(), found.end()};
}

bool has_exchange(const Trace& trace, int step) {
  const std::vector<OperationRule>& rules = trace.plan.rules;
  return std::any_of(rules.begin(), rules.end(), [&](const OperationRule& rule) {
    const bool may_take_up = rule.kind == OperationKind::kMerge && step > rule.overlap_steps;
    return may_take_up || is_posted_at(rule, trace.context.steps, step) ||
           is_posted_at(rule, trace.context.steps, step - rule.overlap_steps);
  });
}

bool releases_during_compute(const Trace& trace, int step) {
  const std::vector<OperationRule>& rules = trace.plan.rules;
  return std::any_of(rules.begin(), rules.end(), [&](const OperationRule& rule) {
    return left_at_release(rule, 0) > 0 && is_posted_at(rule, trace.context.steps, step);
  });
}

}  // namespace longhaul
