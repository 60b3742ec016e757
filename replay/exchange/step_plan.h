// What a trace asks for at one step: the program of its workers, and the exchange runs of all groups.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/program.h"
#include "core/plan/trace.h"
#include "core/scenario/case.h"
#include "replay/exchange/elastic_exchange.h"
#include "replay/exchange/exchange_run.h"
#include "replay/exchange/group_operation.h"
#include "replay/work/attendance.h"
#include "replay/work/stage_assignment.h"

namespace longhaul {

// Made when the first worker gets to the step. Operations are among workers: of each replica of a group the
// one that has the rule's stage; of everyone all that serve it, wherever they were at first.
class StepPlan {
 public:
  using MemberDone = std::function<void(GroupOperation& run, int worker)>;

  // `context` must outlive it. Throws InputError for invalid groups.
  StepPlan(const ExchangeContext& context, const Trace& trace, const StageAssignment& assignment, int step,
           const MemberDone& on_member_done);
  // Of those who are there; `on_member_done` may be called with -1 (ElasticExchange).
  StepPlan(const ExchangeContext& context, const Trace& trace, const Attendance& attendance, int step,
           const MemberDone& on_member_done);

  // Of a plan with an attendance: what ElasticExchange does, in all operations, of all workers of the
  // replica. Listeners are admitted to those among everyone alone.
  void on_crash(int replica) { each_elastic(replica, &ElasticExchange::on_crash); }
  void on_failure_detected(int replica);
  // Whether all operations among everyone could.
  bool can_add(int replica) const;
  void add_member(int replica, bool listens);
  void begin_contributing(int replica) { each_elastic(replica, &ElasticExchange::begin_contributing); }
  void release(int replica);         // all of a listener's contribution
  void on_resume(int replica, int step);  // it does this step anew
  bool is_finished() const;
  const std::vector<ElasticExchange*>& elastic_exchanges() const { return elastic_; }

  const Program& program() const { return program_; }
  // The run of a rule that the worker takes part in; null: none.
  GroupOperation* run_of(int worker, int rule) const;
  std::vector<std::string> waiting() const;

 private:
  StepPlan(const Trace& trace, int step);
  // add(operation, rule, group), of each group of the step but those of merges.
  template <typename Add>
  void add_groups(const Trace& trace, int step, const Add& add);
  void add_elastic(const ExchangeContext& context, const Operation& exchange, int rule,
                   const std::vector<int>& group, const Attendance& attendance,
                   const MemberDone& on_member_done);
  std::function<void(int worker)> done_of_next(const MemberDone& on_member_done) const;  // run
  void keep(std::unique_ptr<GroupOperation> run);

  void each_elastic(int replica, void (ElasticExchange::*does)(int worker));

  Program program_;
  int stages_;
  std::vector<std::unique_ptr<GroupOperation>> runs_;
  std::vector<ElasticExchange*> elastic_;              // of runs_
  std::vector<std::vector<GroupOperation*>> runs_of_;  // by worker
};

}  // namespace longhaul
