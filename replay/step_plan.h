// What a trace asks for at one step: the program of its workers and the exchange runs of all groups, made
// when the first replica gets there.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/case.h"
#include "core/plan/program.h"
#include "core/plan/trace.h"
#include "replay/bucketed_exchange.h"

namespace longhaul {

class StepPlan {
 public:
  using MemberDone = std::function<void(BucketedExchange& run, int replica)>;

  // `context` must outlive it. Throws InputError for invalid groups.
  StepPlan(const ExchangeContext& context, const Trace& trace, int step, const MemberDone& on_member_done);

  const Program& program() const { return program_; }
  // The run of a rule that the replica takes part in; null: none.
  BucketedExchange* run_of(int replica, int rule) const;
  // Participants by rule.
  const std::map<int, std::size_t>& row_counts() const { return row_counts_; }
  // A replica has gone on to the next step. True for the last one.
  bool leave() { return --replicas_left_ == 0; }
  std::vector<std::string> waiting() const;

 private:
  void add_run(const ExchangeContext& context, const Operation& exchange, int rule, std::vector<int> group,
               const MemberDone& on_member_done);

  Program program_;
  std::vector<std::unique_ptr<BucketedExchange>> runs_;
  std::vector<std::vector<BucketedExchange*>> runs_of_;  // by replica
  std::map<int, std::size_t> row_counts_;
  int replicas_left_;
};

// The ordered pairs of replicas that send to each other somewhere in the trace.
std::vector<std::pair<int, int>> used_connections(const Trace& trace, const std::vector<int>& site_of);

// What a trace asks for at a step, for whoever replays it.

// Which steps have to do with an exchange, without drawing or copying groups.
class PlanIndex {
 public:
  // `trace` must outlive it.
  explicit PlanIndex(const Trace& trace) : trace_(trace) {}

  bool has_exchange(int step) const;             // posted or awaited there
  bool releases_during_compute(int step) const;  // buckets, before its end

 private:
  const Trace& trace_;
};

// The index of the exchange's rule in the trace's plan.
int rule_index(const Trace& trace, const Operation& exchange);

// Throws InputError where the trace is not one of this case.
void check_fit(const Case& one, const Trace& trace);

}  // namespace longhaul
