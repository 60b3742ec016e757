#include "replay/exchange/step_graph_run.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/index.h"

namespace longhaul {

StepGraphGroups::StepGraphGroups(const StepGraph& graph, int replicas)
    : groups_(fixed_groups(graph.grouping, replicas, graph.group_size)), group_of_(as_index(replicas)) {
  for (std::size_t group = 0; group < groups_.size(); ++group)
    for (const int replica : groups_[group]) group_of_[as_index(replica)] = group;
  for (const StepCollective& collective : graph.collectives) {
    OperationRule rule{collective.name, collective.kind, collective.collective};
    rule.payload.resize(1);
    rules_.push_back(std::move(rule));
  }
}

StepGraphRun::StepGraphRun(const ExchangeContext& context, const StepGraph& graph,
                           const StepGraphGroups& groups, int step, int first_rule, Watcher watcher)
    : context_(context),
      graph_(graph),
      groups_(groups),
      step_(step),
      first_rule_(first_rule),
      watcher_(std::move(watcher)),
      workers_(groups.count() * as_index(graph.group_size)) {
  for (std::size_t task = 0; task < graph.tasks.size(); ++task)
    (graph.tasks[task].is_compute() ? computes_ : collectives_).push_back(task);
}

void StepGraphRun::enter(int index, double seconds) {
  Worker& worker = at(index);
  worker.is_here = true;
  worker.seconds = seconds;
  worker.left = graph_.tasks.size();
  worker.done.assign(worker.left, false);
  advance(index);
}

bool StepGraphRun::is_ready(const Worker& worker, std::size_t task) const {
  const std::vector<int>& after = graph_.tasks[task].after;
  return std::all_of(after.begin(), after.end(), [&](int before) { return worker.done[as_index(before)]; });
}

// What is begun may be over at once, and call back.
void StepGraphRun::advance(int index) {
  Worker& worker = at(index);
  if (worker.is_advancing) return;
  worker.is_advancing = true;
  while (begin_collective(index) || begin_compute(index)) continue;
  worker.is_advancing = false;
  if (!worker.is_here || worker.left > 0) return;
  worker.is_here = false;
  ++done_;
  watcher_.on_done(index);
}

bool StepGraphRun::begin_compute(int index) {
  Worker& worker = at(index);
  if (worker.computes || worker.next_compute == computes_.size()) return false;
  const std::size_t task = computes_[worker.next_compute];
  if (!is_ready(worker, task)) return false;
  ++worker.next_compute;
  worker.computes = true;
  const double own_s = graph_.tasks[task].share * worker.seconds, taken_s = watcher_.pace(index, own_s);
  worker.computed_s += taken_s;
  context_.clock.after(taken_s, [this, index, task] {
    at(index).computes = false;
    end(index, task);
  });
  return true;
}

bool StepGraphRun::begin_collective(int index) {
  Worker& worker = at(index);
  if (worker.talks || worker.next_collective == collectives_.size()) return false;
  const std::size_t task = collectives_[worker.next_collective];
  if (!is_ready(worker, task)) return false;
  ++worker.next_collective;
  worker.talks = true;
  run_of(task, index).post(index);
  return true;
}

ExchangeRun& StepGraphRun::run_of(std::size_t task, int worker) {
  std::shared_ptr<ExchangeRun>& run = runs_[{task, groups_.number_of(worker)}];
  if (!run) {
    const StepTask& of = graph_.tasks[task];
    run = make_exchange_run(context_,
                            {groups_.rule(of.collective), first_rule_ + of.collective, step_,
                             groups_.group_of(worker), of.bytes, static_cast<int>(task)},
                            [this, task](int member) { end_of_member(task, member); });
  }
  return *run;
}

void StepGraphRun::end_of_member(std::size_t task, int worker) {
  const auto found = runs_.find({task, groups_.number_of(worker)});
  const std::shared_ptr<ExchangeRun> run = found->second;
  if (run->is_finished()) {
    CollectiveTimes times{graph_.tasks[task].collective, 0, run->start_s(), run->done_s()};
    for (const int member : groups_.group_of(worker)) {
      const std::int64_t bytes = run->times(member).bytes_sent;
      times.bytes += bytes;
      watcher_.on_sent(member, bytes);
    }
    transfers_ += run->transfers();
    watcher_.on_collective(times);
    context_.clock.retire(run);
    runs_.erase(found);
  }
  at(worker).talks = false;
  end(worker, task);
}

void StepGraphRun::end(int index, std::size_t task) {
  Worker& worker = at(index);
  worker.done[task] = true;
  --worker.left;
  advance(index);
}

std::vector<std::string> StepGraphRun::waiting() const {
  std::vector<std::string> lines;
  for (const auto& [key, run] : runs_)
    for (std::string& line : run->waiting()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace longhaul
