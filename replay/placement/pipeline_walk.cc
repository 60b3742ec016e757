#include "replay/placement/pipeline_walk.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "core/base/index.h"

namespace longhaul {
namespace {

constexpr int kMostPlaces = 64;

// At least `count`, a multiple of the stages: interleaved schedules ask for that.
int rounded_up(int count, int stages) {
  return (count + stages - 1) / stages * stages;
}

// The replica that has each micro-batch in the neighbouring part.
struct Neighbours {
  std::vector<std::vector<std::vector<int>>> before, after;  // [microbatch][part][replica]

  Neighbours(const PipelineWalk::Paths& paths, int microbatches, int parts, int replicas) {
    const std::vector<std::vector<int>> none(as_index(parts), std::vector<int>(as_index(replicas), -1));
    before.assign(as_index(microbatches), none);
    after = before;
    for (std::size_t microbatch = 0; microbatch < before.size(); ++microbatch)
      for (const Route& path : paths(static_cast<int>(microbatch)))
        for (std::size_t part = 1; part < path.size(); ++part) {
          const int from = path[part - 1].replica, to = path[part].replica;
          before[microbatch][part][as_index(to)] = from;
          after[microbatch][part - 1][as_index(from)] = to;
        }
  }
};

}  // namespace

PipelineWalk::PipelineWalk(const PipelinePlan& plan, int replicas, const Paths& paths)
    : plan_(plan), replicas_(replicas) {
  const int most = rounded_up(std::max(kMostPlaces, 2 * plan.stages), plan.stages);
  longer_ = walk_of(std::min(plan.microbatches, most), paths);
  if (plan.microbatches > most) shorter_ = walk_of(most - rounded_up(most / 4, plan.stages), paths);
}

// A pass takes its part's share of a micro-batch of the case, however many of them are walked.
PipelineWalk::Walk PipelineWalk::walk_of(int microbatches, const Paths& paths) const {
  PipelinePlan plan = plan_;
  plan.microbatches = microbatches;
  const int parts = plan.part_count(), stages = plan.stages, workers = replicas_ * stages;
  const Neighbours neighbours(paths, microbatches, parts, replicas_);
  std::vector<std::vector<PipelineTask>> tasks;
  for (int stage = 0; stage < stages; ++stage) tasks.push_back(tasks_of_stage(plan, stage));
  Walk walk;
  walk.microbatches = microbatches;
  std::map<std::tuple<int, int, bool>, int> connections;  // by both ends and direction
  std::vector<std::size_t> next(as_index(workers));
  std::vector<int> slot_of(as_index(2 * parts * microbatches * replicas_), -1);  // of what a pass needs
  const auto slot = [&](bool is_forward, int part, int microbatch, int replica) -> int& {
    return slot_of[as_index(((2 * part + (is_forward ? 0 : 1)) * microbatches + microbatch) * replicas_ +
                            replica)];
  };
  const auto take = [&](int worker) {
    const std::vector<PipelineTask>& own = tasks[as_index(worker % stages)];
    std::size_t& number = next[as_index(worker)];
    if (number == own.size()) return false;
    const PipelineTask& task = own[number];
    const int replica = worker / stages;
    Step step;
    step.worker = worker;
    step.part = task.part;
    step.is_forward = task.is_forward;
    step.arrival = slot(task.is_forward, task.part, task.microbatch, replica);
    if (step.arrival < 0 && (task.is_forward ? task.part > 0 : task.part + 1 < parts)) return false;
    step.share = plan.parts[as_index(task.part)].share / plan_.microbatches *
                 (task.is_forward ? 1 : plan.backward) / (1 + plan.backward);
    const int part = task.is_forward ? task.part + 1 : task.part - 1;
    if (part >= 0 && part < parts) {
      const auto& hops = (task.is_forward ? neighbours.after : neighbours.before)[as_index(task.microbatch)];
      const int to = hops[as_index(task.part)][as_index(replica)];
      step.to = worker_of(to, plan.stage_of(part), stages);
      step.sends = slot(task.is_forward, part, task.microbatch, to) = walk.slots++;
      step.bytes = static_cast<double>(task.is_forward ? plan.forward_bytes[as_index(task.part)]
                                                       : plan.backward_bytes[as_index(part)]);
      step.connection =
          connections.emplace(std::make_tuple(worker, step.to, task.is_forward), walk.connections)
              .first->second;
      walk.connections = static_cast<int>(connections.size());
    }
    walk.steps.push_back(step);
    ++number;
    return true;
  };
  for (bool has_taken = true; has_taken;) {
    has_taken = false;
    for (int worker = 0; worker < workers; ++worker)
      while (take(worker)) has_taken = true;
  }
  if (walk.steps.size() != as_index(2 * parts * microbatches * replicas_))
    throw std::logic_error("passes wait for each other in a circle");
  return walk;
}

std::vector<double> PipelineWalk::walked_s(const Walk& walk, const std::vector<int>& site_of,
                                           const std::vector<double>& model_s, const SitePaths& paths) {
  std::vector<double> ends_s(site_of.size()), delivered_s(site_of.size());
  arrival_s_.resize(as_index(walk.slots));
  left_s_.assign(as_index(walk.connections), 0);
  for (const Step& step : walk.steps) {
    const auto worker = as_index(step.worker);
    double begin_s = ends_s[worker];
    if (step.arrival >= 0) begin_s = std::max(begin_s, arrival_s_[as_index(step.arrival)]);
    if (plan_.blocks) begin_s = std::max(begin_s, delivered_s[worker]);
    ends_s[worker] = begin_s + step.share * model_s[worker];
    if (step.sends < 0) continue;
    const SitePath& path = paths.between(site_of[worker], site_of[as_index(step.to)]);
    double& left_s = left_s_[as_index(step.connection)];
    left_s = std::max(left_s, ends_s[worker]) + step.bytes * path.s_per_byte;
    const double arrival_s = left_s + path.latency_s;
    arrival_s_[as_index(step.sends)] = arrival_s;
    delivered_s[worker] = std::max(delivered_s[worker], arrival_s);
  }
  if (plan_.blocks)
    for (std::size_t worker = 0; worker < ends_s.size(); ++worker)
      ends_s[worker] = std::max(ends_s[worker], delivered_s[worker]);
  return ends_s;
}

std::vector<double> PipelineWalk::ends_s(const std::vector<int>& site_of, const std::vector<double>& model_s,
                                         const SitePaths& paths) {
  std::vector<double> ends_s = walked_s(longer_, site_of, model_s, paths);
  if (shorter_.steps.empty()) return ends_s;
  const std::vector<double> earlier_s = walked_s(shorter_, site_of, model_s, paths);
  const double further = static_cast<double>(plan_.microbatches - longer_.microbatches) /
                         (longer_.microbatches - shorter_.microbatches);
  for (std::size_t worker = 0; worker < ends_s.size(); ++worker)
    ends_s[worker] += further * (ends_s[worker] - earlier_s[worker]);
  return ends_s;
}

}  // namespace longhaul
