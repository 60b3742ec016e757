#include "replay/exchange/step_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/index.h"
#include "replay/work/trace_steps.h"

namespace longhaul {
namespace {

// Each run keeps a copy of its operation: with the groups of all, 512 pairs would copy 512 groups each.
std::vector<std::vector<int>> take_groups(Operation& exchange, int replicas) {
  std::vector<std::vector<int>> groups = groups_of(exchange, replicas);
  exchange.groups.clear();
  return groups;
}

}  // namespace

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

StepPlan::StepPlan(const ExchangeContext& context, const Trace& trace, const StageAssignment& assignment,
                   int step, const MemberDone& on_member_done)
    : StepPlan(trace, step) {
  add_groups(trace, step, [&](const Operation& exchange, int rule, const std::vector<int>& group) {
    const int stage = exchange.rule->stage;
    std::vector<int> workers = assignment.is_original(stage, step)
                                   ? workers_of(trace.plan, *exchange.rule, group)
                                   : assignment.workers_of(stage, step);
    if (workers.size() < 2) return;
    if (exchange.rule->completion.is_all())
      keep(std::make_unique<BucketedExchange>(context, exchange, rule, std::move(workers),
                                              done_of_next(on_member_done)));
    else
      keep(std::make_unique<ElasticExchange>(context, exchange, rule, std::move(workers), std::vector<int>(),
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
      add_elastic(context, exchange, rule, group, attendance, on_member_done);
  });
}

void StepPlan::add_elastic(const ExchangeContext& context, const Operation& exchange, int rule,
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
      std::make_unique<ElasticExchange>(context, of_workers, rule, of_stage(group), of_stage(listeners),
                                        attendance.discards, done_of_next(on_member_done));
  elastic_.push_back(run.get());
  keep(std::move(run));
}

std::function<void(int)> StepPlan::done_of_next(const MemberDone& on_member_done) const {
  return [this, index = runs_.size(), on_member_done](int worker) { on_member_done(*runs_[index], worker); };
}

void StepPlan::keep(std::unique_ptr<GroupOperation> run) {
  for (const int worker : run->group()) runs_of_[as_index(worker)].push_back(run.get());
  runs_.push_back(std::move(run));
}

void StepPlan::on_failure_detected(int replica) {
  each_elastic(replica, &ElasticExchange::on_failure_detected);
  for (int stage = 0; stage < stages_; ++stage)
    runs_of_[as_index(worker_of(replica, stage, stages_))].clear();
}

bool StepPlan::can_add(int replica) const {
  return std::all_of(elastic_.begin(), elastic_.end(), [&](const ElasticExchange* run) {
    return !run->rule().is_of_everyone() ||
           run->can_add(worker_of(replica, std::max(0, run->rule().stage), stages_));
  });
}

void StepPlan::add_member(int replica, bool listens) {
  for (ElasticExchange* run : elastic_) {
    const int worker = worker_of(replica, std::max(0, run->rule().stage), stages_);
    if (run->rule().is_of_everyone() && run->add_member(worker, listens))
      runs_of_[as_index(worker)].push_back(run);
  }
}

void StepPlan::each_elastic(int replica, void (ElasticExchange::*does)(int)) {
  for (int stage = 0; stage < stages_; ++stage)
    for (ElasticExchange* run : elastic_) (run->*does)(worker_of(replica, stage, stages_));
}

void StepPlan::release(int replica) {
  for (int stage = 0; stage < stages_; ++stage) {
    const int worker = worker_of(replica, stage, stages_);
    const std::vector<GroupOperation*> runs = runs_of_[as_index(worker)];
    for (GroupOperation* run : runs)
      for (int bucket = 0; bucket < run->rule().buckets; ++bucket) run->release(worker);
  }
}

void StepPlan::on_resume(int replica, int step) {
  for (ElasticExchange* run : elastic_) run->on_resume(replica, run->step() < step);
}

bool StepPlan::is_finished() const {
  return std::all_of(elastic_.begin(), elastic_.end(),
                     [](const ElasticExchange* run) { return run->is_finished(); });
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

}  // namespace longhaul
