#include "core/parallelism/step_graph.h"

#include <fmt/core.h>

#include <cmath>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

constexpr double kMostBytes = 9e18;  // of all that a ring of the group sends in a step

void check_task(const StepGraph& graph, std::size_t index) {
  const StepTask& task = graph.tasks[index];
  const std::string path = element_path("step_graph.tasks", index);
  for (const int before : task.after)
    if (before < 0 || as_index(before) >= index)
      throw InputError(path, fmt::format("awaits task {}", before), "a task in front of it");
  if (task.is_compute() && !(task.share > 0 && std::isfinite(task.share)))
    throw InputError(path, fmt::format("found compute of {}", task.share), "a share above 0");
  if (task.is_compute()) return;
  if (task.share != 0) throw InputError(path, "found a share and a collective", "one of them");
  if (as_index(task.collective) >= graph.collectives.size())
    throw InputError(
        path, fmt::format("found collective {}", task.collective),
        fmt::format("the number of one of the {} in step_graph.collectives", graph.collectives.size()));
  if (task.bytes < 1) throw InputError(path, fmt::format("found {} bytes", task.bytes), "1 or more");
}

}  // namespace

std::map<std::pair<int, std::int64_t>, int> StepGraph::sizes() const {
  std::map<std::pair<int, std::int64_t>, int> counts;
  for (const StepTask& task : tasks)
    if (!task.is_compute()) ++counts[{task.collective, task.bytes}];
  return counts;
}

void check_bytes(const StepGraph& graph, const std::string& path) {
  double bytes = 0;
  for (const StepTask& task : graph.tasks) bytes += static_cast<double>(task.bytes);
  if (2 * bytes * graph.group_size > kMostBytes)
    throw InputError(path, fmt::format("found {:.6g} bytes that each member contributes in a step", bytes),
                     fmt::format("at most {:.0e} that a group sends", kMostBytes));
}

void check_step_graph(const StepGraph& graph, int replicas) {
  const bool is_fixed = graph.grouping == Grouping::kConsecutive || graph.grouping == Grouping::kStrided;
  if (!is_fixed || graph.group_size < 2 || replicas % graph.group_size != 0)
    throw InputError("step_graph",
                     fmt::format("found {} groups of {} among {} replicas", word_of(graph.grouping),
                                 graph.group_size, replicas),
                     "consecutive or strided groups, of 2 or more, that take all replicas");
  if (graph.tasks.empty() || graph.tasks.size() > kMostStepTasks)
    throw InputError("step_graph.tasks", fmt::format("found {}", graph.tasks.size()),
                     fmt::format("1 to {}", kMostStepTasks));
  double share = 0;
  for (std::size_t index = 0; index < graph.tasks.size(); ++index) {
    check_task(graph, index);
    share += graph.tasks[index].share;
  }
  if (!(std::abs(share - 1) < 1e-6))
    throw InputError("step_graph.tasks", fmt::format("found compute of {} steps", share), "1 together");
  check_bytes(graph, "step_graph.tasks");
}

Json to_json(const StepGraph& graph) {
  Json collectives = Json::array(), tasks = Json::array();
  for (const StepCollective& collective : graph.collectives)
    collectives.push_back({{"name", collective.name},
                           {"kind", word_of(collective.kind)},
                           {"collective", collective.collective}});
  for (const StepTask& task : graph.tasks) {
    Json entry = task.is_compute() ? Json{{"share", task.share}}
                                   : Json{{"collective", task.collective}, {"bytes", task.bytes}};
    if (!task.after.empty()) entry["after"] = task.after;
    tasks.push_back(std::move(entry));
  }
  return {{"grouping", word_of(graph.grouping)},
          {"group_size", graph.group_size},
          {"collectives", collectives},
          {"tasks", tasks}};
}

StepGraph step_graph_from(const Json& json, int replicas) {
  StepGraph graph;
  graph.grouping = from_word<Grouping>(json.at("grouping"), "step_graph.grouping");
  graph.group_size = json.at("group_size");
  for (const Json& entry : json.at("collectives"))
    graph.collectives.push_back({entry.at("name"),
                                 from_word<OperationKind>(entry.at("kind"), "step_graph.collectives.kind"),
                                 entry.at("collective")});
  for (const Json& entry : json.at("tasks")) {
    StepTask task;
    task.share = entry.value("share", 0.);
    if (!entry.contains("share") || entry.contains("collective"))
      task.collective = entry.at("collective"), task.bytes = entry.at("bytes");
    task.after = entry.value("after", task.after);
    if (task.collective < -1)
      throw InputError("step_graph.tasks", fmt::format("found collective {}", task.collective), "0 or more");
    graph.tasks.push_back(std::move(task));
  }
  check_step_graph(graph, replicas);
  return graph;
}

}  // namespace longhaul
