// What a worker does inside a step where replicas talk while they compute: tasks, and what each awaits. Pure
// data, the same for all replicas and all steps.
//
// A worker has one stream of compute, and one for the collectives of its group, as NCCL has for a
// communicator: the tasks of each run one after another in the order of the list, each as soon as what it
// awaits is done. A collective is done for a member when its part of it is. The step's compute is over when
// all tasks are.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/base/operation_kind.h"

namespace longhaul {

struct StepTask {
  int collective = -1;          // an index in StepGraph::collectives; -1: compute
  double share = 0;             // of compute: of the step's; those of a graph add up to 1
  std::int64_t bytes = 0;       // of a collective: what each member contributes
  std::vector<int> after = {};  // tasks that it awaits, by index, all in front of it

  bool is_compute() const { return collective < 0; }
};

struct StepCollective {
  std::string name;  // "dispatch"
  OperationKind kind = OperationKind::kAllReduce;
  std::string collective;  // how it is lowered to transfers
};

struct StepGraph {
  std::vector<StepCollective> collectives = {};
  Grouping grouping = Grouping::kConsecutive;  // or kStrided
  int group_size = 0;
  std::vector<StepTask> tasks = {};

  bool is_empty() const { return tasks.empty(); }
  // Tasks of each collective and size in a step.
  std::map<std::pair<int, std::int64_t>, int> sizes() const;
};

constexpr std::size_t kMostStepTasks = 200000;

// Throws InputError where a group sends more in a step than 64 bits count.
void check_bytes(const StepGraph& graph, const std::string& path);
// The same, and where a task awaits what is not in front of it, a collective has no bytes, the compute
// does not add up, or groups do not fit so many replicas.
void check_step_graph(const StepGraph& graph, int replicas);

// For trace.jsonl. The latter throws InputError.
Json to_json(const StepGraph& graph);
StepGraph step_graph_from(const Json& json, int replicas);

}  // namespace longhaul
