// What a trace asks for at one step: the program of its workers and the exchange runs of all groups, made
// when the first replica gets there.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

}  // namespace longhaul
