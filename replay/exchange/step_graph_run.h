// The workers of all replicas inside one step, in which they talk while they compute
// (core/parallelism/step_graph.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/parallelism/step_graph.h"
#include "core/plan/operations.h"
#include "replay/exchange/exchange_run.h"

namespace longhaul {

// The groups of a graph and how its collectives are carried: the same for all steps.
class StepGraphGroups {
 public:
  StepGraphGroups(const StepGraph& graph, int replicas);

  const std::vector<int>& group_of(int replica) const { return groups_[group_of_[as_index(replica)]]; }
  std::size_t number_of(int replica) const { return group_of_[as_index(replica)]; }
  std::size_t count() const { return groups_.size(); }
  const OperationRule& rule(int collective) const { return rules_[as_index(collective)]; }

 private:
  std::vector<std::vector<int>> groups_;
  std::vector<std::size_t> group_of_;  // by replica
  std::vector<OperationRule> rules_;   // by collective
};

class StepGraphRun {
 public:
  // One collective of one group: the last member was ready, all were done. Of the clock.
  struct CollectiveTimes {
    int collective = 0;
    std::int64_t bytes = 0;  // that all members sent
    double start_s = 0, done_s = 0;
  };
  struct Watcher {
    std::function<void(int worker)> on_done;                 // all its tasks are
    std::function<double(int worker, double seconds)> pace;  // how long compute of so many seconds takes now
    std::function<void(int worker, std::int64_t bytes)> on_sent;
    std::function<void(const CollectiveTimes& times)> on_collective;
  };

  // All must outlive it. `first_rule`: that of messages of collective 0 (MessageKey).
  StepGraphRun(const ExchangeContext& context, const StepGraph& graph, const StepGraphGroups& groups,
               int step, int first_rule, Watcher watcher);
  StepGraphRun(const StepGraphRun&) = delete;  // what it starts calls back
  StepGraphRun& operator=(const StepGraphRun&) = delete;

  // The worker comes to the step, whose compute takes so long without the network.
  void enter(int worker, double seconds);
  double computed_s(int worker) const { return at(worker).computed_s; }
  bool is_over() const { return done_ == workers_.size(); }  // for all
  std::int64_t transfers() const { return transfers_; }
  std::vector<std::string> waiting() const;  // who waits for what, a line each

 private:
  using Key = std::pair<std::size_t, std::size_t>;  // task and group

  struct Worker {
    double seconds = 0;     // of compute of the step
    double computed_s = 0;  // it has taken so far
    bool is_here = false, computes = false, talks = false, is_advancing = false;
    std::size_t next_compute = 0, next_collective = 0, left = 0;  // of the streams; tasks that are not done
    std::vector<bool> done;                                       // by task
  };

  Worker& at(int worker) { return workers_[as_index(worker)]; }
  const Worker& at(int worker) const { return workers_[as_index(worker)]; }
  bool is_ready(const Worker& worker, std::size_t task) const;
  void advance(int index);
  bool begin_compute(int index);
  bool begin_collective(int index);
  void end(int index, std::size_t task);
  ExchangeRun& run_of(std::size_t task, int worker);
  void end_of_member(std::size_t task, int worker);

  const ExchangeContext& context_;
  const StepGraph& graph_;
  const StepGraphGroups& groups_;
  const int step_, first_rule_;
  const Watcher watcher_;
  std::vector<std::size_t> computes_, collectives_;  // tasks of the streams, in order
  std::vector<Worker> workers_;
  std::map<Key, std::shared_ptr<ExchangeRun>> runs_;  // under way
  std::size_t done_ = 0;                              // workers
  std::int64_t transfers_ = 0;
};

}  // namespace longhaul
