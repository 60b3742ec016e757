// What a trace asks for at one step: how long each replica computes, the program of its workers, and the
// exchange runs of all groups.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/program.h"
#include "core/plan/trace.h"
#include "core/scenario/case.h"
#include "replay/attended_exchange.h"
#include "replay/exchange_run.h"
#include "replay/group_operation.h"
#include "replay/rebalance.h"

namespace longhaul {

// How long each worker computes for each inner step, were it to compute the whole model: with stages it takes
// its stage's share of that. Without stages a worker is a replica.
class StepTimes {
 public:
  // `trace` must outlive it; throws InputError if it lacks the measured times that the case asks for.
  StepTimes(const Case& config, const Trace& trace);

  double seconds(int worker, int step) const;  // steps count from 1

 private:
  double whole_batch_s(int step) const;
  double drawn_s(int worker, int step) const;

  StepTime rule_;
  std::vector<double> factors_;  // by worker; empty: all 1
  const Trace& trace_;
};

// Who is there when a step's operations are made, where replicas may be gone.
struct Attendance {
  enum class Role : char {
    kAbsent,
    kMember,
    kListener,  // of operations among everyone: it gets their results and contributes nothing
  };
  std::vector<Role> roles;  // by replica
  bool discards = false;    // operations that lack a member fail
};

// Made when the first worker gets to the step. Operations are among workers: of each replica of a group the
// one that has the rule's stage; of everyone all that serve it, wherever they were at first.
class StepPlan {
 public:
  using MemberDone = std::function<void(GroupOperation& run, int worker)>;

  // `context` must outlive it. Throws InputError for invalid groups.
  StepPlan(const ExchangeContext& context, const Trace& trace, const Crews& crews, int step,
           const MemberDone& on_member_done);
  // Of those who are there; `on_member_done` may be called with -1 (AttendedExchange).
  StepPlan(const ExchangeContext& context, const Trace& trace, const Attendance& attendance, int step,
           const MemberDone& on_member_done);

  // Of a plan with an attendance: what AttendedExchange does, in all operations, of all workers of the
  // replica. Listeners are admitted to those among everyone alone.
  void cut(int replica) { each_attended(replica, &AttendedExchange::cut); }
  void lose(int replica);
  void admit(int replica, bool listens);
  void promote(int replica) { each_attended(replica, &AttendedExchange::promote); }
  void release(int replica);         // all of a listener's contribution
  void redo(int replica, int step);  // it does this step anew
  bool is_finished() const;

  const Program& program() const { return program_; }
  // The run of a rule that the worker takes part in; null: none.
  GroupOperation* run_of(int worker, int rule) const;
  std::vector<std::string> waiting() const;

 private:
  StepPlan(const Trace& trace, int step);
  // add(operation, rule, group), of each group of the step but those of merges.
  template <typename Add>
  void add_groups(const Trace& trace, int step, const Add& add);
  void add_attended(const ExchangeContext& context, const Operation& exchange, int rule,
                    const std::vector<int>& group, const Attendance& attendance,
                    const MemberDone& on_member_done);
  std::function<void(int worker)> done_of_next(const MemberDone& on_member_done) const;  // run
  void keep(std::unique_ptr<GroupOperation> run);

  void each_attended(int replica, void (AttendedExchange::*does)(int worker));

  Program program_;
  int stages_;
  std::vector<std::unique_ptr<GroupOperation>> runs_;
  std::vector<AttendedExchange*> attended_;            // of runs_
  std::vector<std::vector<GroupOperation*>> runs_of_;  // by worker
};

using OpenPlans = std::map<int, std::shared_ptr<StepPlan>>;  // by step

// Of a group of replicas the workers that carry out its operation.
std::vector<int> workers_of(const OperationPlan& plan, const OperationRule& rule, std::vector<int> group);

// All there are: every stage of every replica.
int worker_count(const Trace& trace);

// The ordered pairs of workers that send to each other somewhere in the trace.
std::vector<std::pair<int, int>> used_connections(const Trace& trace, const std::vector<int>& site_of,
                                                  const NetworkSpec& network);

// Which steps have to do with an exchange, without drawing or copying groups.
bool has_exchange(const Trace& trace, int step);             // posted or awaited there
bool releases_during_compute(const Trace& trace, int step);  // buckets, before its end

}  // namespace longhaul
