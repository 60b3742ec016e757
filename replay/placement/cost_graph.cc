#include "replay/placement/cost_graph.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "core/base/index.h"
#include "replay/exchange/rounds_run.h"
#include "replay/network/network.h"
#include "replay/pipeline/pipeline_run.h"

namespace longhaul {
namespace {

constexpr int kMostRecorded = 64;  // micro-batches

// A network that delivers at once, and notes what each message waits for.
class Recording : public Network {
 public:
  // `taken_as`: the number under which a message's receiver asks for it.
  Recording(int workers, bool awaits_delivery, bool awaits_receiver,
            std::function<int(const Transmission&)> taken_as)
      : awaits_delivery_(awaits_delivery),
        awaits_receiver_(awaits_receiver),
        taken_as_(std::move(taken_as)),
        workers_(as_index(workers)) {}

  EventQueue& clock() { return clock_; }

  // The worker enters what it does next: with what came under these numbers, and, where it awaits delivery,
  // when all that it sent since it entered the last one has arrived. `share`: it is a pass, which is over.
  void enter(int worker, const std::vector<int>& takes, double share = -1) {
    Worker& state = workers_[as_index(worker)];
    std::vector<int> awaited;
    if (!state.entered.empty()) awaited.push_back(state.entered.back());
    for (const int number : takes) {
      std::vector<int>& came = state.came[number];
      if (came.empty()) continue;  // it has that itself
      awaited.push_back(came.front());
      came.erase(came.begin());
    }
    if (awaits_delivery_) awaited.insert(awaited.end(), state.sent.begin(), state.sent.end());
    state.sent.clear();
    state.entered.push_back(
        graph_.add(share < 0 ? CostGraph::Event() : CostGraph::Event{worker, -1, share}, awaited));
  }

  void send(const Transmission& message, Arrival on_arrival, SyncParts*) override {
    Worker &sender = workers_[as_index(message.source)], &receiver = workers_[as_index(message.target)];
    std::vector<int> awaited = {sender.entered.back()};
    if (awaits_receiver_) awaited.push_back(receiver.entered.at(sender.entered.size() - 1));
    int& latest = latest_.try_emplace({message.key.rule, message.source, message.target}, 0).first->second;
    latest = graph_.add(
        {message.source, message.target, static_cast<double>(message.bytes), latest, message.in_turn},
        awaited);
    sender.sent.push_back(latest);
    receiver.came[taken_as_(message)].push_back(latest);
    clock_.after_ns(0, std::move(on_arrival));
  }

  const std::vector<LinkLoad>& loads() override { return no_loads_; }

  // When the clock has run.
  CostGraph graph() {
    std::vector<int> ends;
    for (const Worker& worker : workers_) ends.push_back(worker.entered.back());
    graph_.set_ends(std::move(ends));
    return std::move(graph_);
  }

 private:
  struct Worker {
    std::vector<int> entered, sent;        // events; the latter since the last of the former
    std::map<int, std::vector<int>> came;  // and not yet taken: few, of many numbers
  };

  EventQueue clock_;
  const bool awaits_delivery_, awaits_receiver_;
  const std::function<int(const Transmission&)> taken_as_;
  std::vector<Worker> workers_;
  std::map<std::tuple<int, int, int>, int> latest_;  // message of a rule between two
  const std::vector<LinkLoad> no_loads_;
  CostGraph graph_;
};

}  // namespace

CostGraph CostGraph::of_exchange(const Collective& collective, const GroupExchange& exchange) {
  Recording recording(exchange.members, collective.awaits_delivery(), collective.awaits_receiver(),
                      [](const Transmission& message) { return message.source; });
  ExchangeContext context{recording.clock(), recording, exchange.site_of};
  std::vector<std::vector<int>> peers(as_index(exchange.members));  // from which the round awaits a message
  context.on_round = [&](int member, const Round& round) {
    recording.enter(member, peers[as_index(member)]);
    peers[as_index(member)].clear();
    for (const Message& message : round.receives) peers[as_index(member)].push_back(message.peer);
  };
  OperationRule rule;
  rule.collective = collective.name();
  rule.payload.resize(as_index(exchange.tensors));
  std::vector<int> group(as_index(exchange.members));
  std::iota(group.begin(), group.end(), 0);
  RoundsRun run(context, {rule, 0, 1, group, exchange.bytes}, [](int) {});
  for (const int member : group) run.post(member);
  recording.clock().run();
  if (!run.is_finished()) throw std::logic_error(collective.name() + ": its rounds wait in a circle");
  return recording.graph();
}

// What a pass makes is taken by the pass of the same direction in the next part.
CostGraph CostGraph::of_passes(const PipelinePlan& whole, int microbatches, int replicas, std::uint64_t seed,
                               int step) {
  PipelinePlan plan = whole;
  plan.microbatches = microbatches;
  Recording recording(replicas * plan.stages, plan.blocks, false, [&](const Transmission& message) {
    const int made_by = message.key.number;  // task_number()
    return made_by + (made_by % 2 == 0 ? 2 : -2) * plan.microbatches;
  });
  Trace trace;
  trace.context.seed = seed;
  trace.context.replicas = replicas;
  trace.plan.pipeline = plan;
  Case config;
  config.workload.step_time.seconds = 1. * microbatches / whole.microbatches;
  const StepTimes times(config, trace);
  Wiring wiring(replicas, plan.stages);
  const StageAssignment assignment(replicas, plan.stages);
  std::vector<double> shares(as_index(replicas * plan.stages));
  PipelineRun::Watcher watcher;
  watcher.on_done = [&](int worker) { recording.enter(worker, {}); };
  watcher.on_last_pass = [](int, double, double) {};
  watcher.on_task = [&](const TaskTimes& pass) {
    recording.enter(pass.worker, {static_cast<int>(task_number(plan, pass.task))},
                    shares[as_index(pass.worker)]);
  };
  watcher.pace = [&](int worker, double share) {
    shares[as_index(worker)] = share;
    return 0;
  };
  const ExchangeContext context{recording.clock(), recording};
  PipelineRun run(context, trace, times, wiring, assignment, step, watcher);
  for (std::size_t worker = 0; worker < shares.size(); ++worker) run.enter(static_cast<int>(worker), {});
  recording.clock().run();
  if (!run.waiting().empty()) throw std::logic_error("passes wait for each other in a circle");
  return recording.graph();
}

// Of many events two at a time.
int CostGraph::add(Event event, const std::vector<int>& awaited) {
  if (!awaited.empty()) event.after = awaited.front();
  for (std::size_t i = 1; i < awaited.size(); ++i) {
    event.also = awaited[i];
    if (i + 1 == awaited.size()) break;
    events_.push_back({});
    events_.back().after = event.after;
    events_.back().also = event.also;
    event.after = static_cast<int>(events_.size()) - 1;
  }
  events_.push_back(event);
  timed_ += event.worker >= 0;
  return static_cast<int>(events_.size()) - 1;
}

std::vector<double> CostGraph::ends_s(const std::vector<int>& site_of, const SitePaths& paths,
                                      const std::vector<double>& model_s) {
  over_s_.resize(events_.size());
  for (std::size_t i = 1; i < events_.size(); ++i) {
    const Event& event = events_[i];
    double time_s = std::max(over_s_[as_index(event.after)], over_s_[as_index(event.also)]);
    if (event.to >= 0) {
      const SitePath& path = paths.between(site_of[as_index(event.worker)], site_of[as_index(event.to)]);
      const double sending_s = event.amount * path.s_per_byte;
      time_s += path.latency_s + (event.in_turn ? 0 : sending_s);
      time_s = std::max(time_s, over_s_[as_index(event.before)]) + (event.in_turn ? sending_s : 0);
    } else if (event.worker >= 0) {
      time_s += event.amount * model_s[as_index(event.worker)];
    }
    over_s_[i] = time_s;
  }
  std::vector<double> ends_s;
  for (const int end : ends_) ends_s.push_back(over_s_[as_index(end)]);
  return ends_s;
}

CostGraph::Times CostGraph::times(const std::vector<int>& site_of, const SitePaths& paths) {
  Times times;
  for (const double end_s : ends_s(site_of, paths)) {
    times.last_s = std::max(times.last_s, end_s);
    times.mean_s += end_s / static_cast<double>(ends_.size());
  }
  return times;
}

StepPasses::StepPasses(const PipelinePlan& plan, int replicas, std::uint64_t seed, int step) {
  // Multiples of the stages: interleaved schedules ask for that.
  const auto rounded_up = [&](int count) { return (count + plan.stages - 1) / plan.stages * plan.stages; };
  const int most = rounded_up(std::max(kMostRecorded, 2 * plan.stages)), quarter = rounded_up(most / 4);
  longer_ = CostGraph::of_passes(plan, std::min(plan.microbatches, most), replicas, seed, step);
  if (plan.microbatches <= most) return;
  shorter_ = CostGraph::of_passes(plan, most - quarter, replicas, seed, step);
  further_ = 1. * (plan.microbatches - most) / quarter;
}

std::vector<double> StepPasses::ends_s(const std::vector<int>& site_of, const SitePaths& paths,
                                       const std::vector<double>& model_s) {
  std::vector<double> ends_s = longer_.ends_s(site_of, paths, model_s);
  if (!shorter_) return ends_s;
  const std::vector<double> earlier_s = shorter_->ends_s(site_of, paths, model_s);
  for (std::size_t worker = 0; worker < ends_s.size(); ++worker)
    ends_s[worker] += further_ * (ends_s[worker] - earlier_s[worker]);
  return ends_s;
}

}  // namespace longhaul
