#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>

#include "analysis/exchange_table.h"
#include "analysis/exports/exports.h"
#include "analysis/run_files.h"
#include "core/base/csv.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/plan/trace.h"
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

enum NodeType { kComp = 4, kSendNode = 5, kReceiveNode = 6, kCollective = 7 };
enum CollectiveType { kAllReduce = 0, kAllGather = 2, kAllToAll = 6, kReduceScatter = 7 };

struct StepTimes {
  double computed_s = 0, done_s = 0;
};
using Times = std::map<std::pair<std::int64_t, std::int64_t>, StepTimes>;  // by step and replica

Times read_times(const std::string& folder) {
  Times times;
  for (ExchangeTable exchanges(folder); exchanges.next();) {
    if (exchanges.overlaps()) continue;
    const auto [entry, first] = times.try_emplace({exchanges.step(), exchanges.replica()});
    if (first) entry->second.computed_s = exchanges.ready_s();
    entry->second.done_s = exchanges.done_s();
  }
  CsvStream steps(folder + "/steps.csv", {"step", "replica", "computed_s", "done_s"});
  while (steps.next()) times[{steps.step(0), steps.worker(1)}] = {steps.number(2), steps.number(3)};
  return times;
}

std::vector<double> read_compute(const std::string& folder) {
  std::vector<double> compute_s;
  for (CsvStream rows(folder + "/replicas.csv", {"compute_s"}); rows.next();)
    compute_s.push_back(rows.number(0));
  return compute_s;
}

bool is_messages(const Collective& collective) {
  return collective.purpose() == Collective::Purpose::kAverage ||
         collective.purpose() == Collective::Purpose::kSend;
}

CollectiveType type_of(const Collective& collective) {
  switch (collective.purpose()) {
    case Collective::Purpose::kAllGather:
      return kAllGather;
    case Collective::Purpose::kReduceScatter:
      return kReduceScatter;
    case Collective::Purpose::kAllToAll:
      return kAllToAll;
    default:
      return kAllReduce;
  }
}

using Ids = std::vector<std::int64_t>;

class Graph {
 public:
  std::int64_t comp(const std::string& name, double seconds, const Ids& after) {
    Json json = node(name, kComp, after);
    json["runtime"] = std::llround(seconds * 1e6);
    computed_s += seconds;
    return add(std::move(json));
  }
  std::int64_t collective(const std::string& name, CollectiveType type, std::int64_t bytes,
                          const Ids& after) {
    Json json = node(name, kCollective, after);
    json["comm_type"] = type;
    json["comm_size"] = bytes;
    return add(std::move(json));
  }
  std::int64_t message(NodeType type, const std::string& name, int source, int target, std::int64_t tag,
                       std::int64_t bytes, const Ids& after) {
    Json json = node(name, type, after);
    json["comm_src"] = source;
    json["comm_dst"] = target;
    json["comm_tag"] = tag;
    json["comm_size"] = bytes;
    return add(std::move(json));
  }

  Ids last;  // what the next node waits for
  double clock_s = 0, computed_s = 0;
  Json nodes = Json::array();

 private:
  static Json node(const std::string& name, NodeType type, const Ids& after) {
    return {{"Name", name}, {"NodeType", type}, {"is_cpu_op", false}, {"data_deps", after}};
  }
  std::int64_t add(Json json) {
    json["Id"] = nodes.size();
    nodes.push_back(std::move(json));
    return static_cast<std::int64_t>(nodes.size()) - 1;
  }
};

// What each member of a group sends at once.
struct Piece {
  std::string name;
  std::int64_t bytes = 0, tag = 0;
};

class Exporter {
 public:
  explicit Exporter(const std::string& folder) : folder_(folder), times_(read_times(folder)) {
    std::ifstream in(folder + "/trace.jsonl");
    if (!in) throw DamagedFile(folder + "/trace.jsonl: cannot be read");
    const std::string file = folder + "/trace.jsonl";
    trace_ = reading(file, [&] { return read_trace(in, file); });
    // What lacks members or fails is not what the plan says.
    if (std::filesystem::exists(folder + "/absences.csv"))
      throw RunError(folder +
                     ": has replicas that are gone for a while: of exchanges that lack members there is "
                     "no execution trace yet");
    if (trace_.plan.pipeline.has_stages())
      throw RunError(folder + ": has pipeline stages, of which there is no execution trace yet");
    graphs_.resize(as_index(trace_.context.replicas));
  }

  std::vector<Json> run() {
    for (int step = 1; step <= trace_.context.steps; ++step)
      if (const std::vector<Operation> posted = trace_.operations_at(step);
          !posted.empty() || pending_.count(step))
        walk(step, posted);
    const std::vector<double> compute_s = read_compute(folder_);
    if (compute_s.size() != graphs_.size())
      throw DamagedFile(fmt::format("{}/replicas.csv: has {} rows; allowed: one for each of {} replicas",
                                    folder_, compute_s.size(), graphs_.size()));
    std::vector<Json> json;
    for (std::size_t r = 0; r < graphs_.size(); ++r) {
      const double left_s = compute_s.at(r) - graphs_[r].computed_s;
      if (left_s > 1e-9 * compute_s[r]) graphs_[r].comp("compute to the end", left_s, graphs_[r].last);
      json.push_back({{"workload_graph", std::move(graphs_[r].nodes)}});
    }
    return json;
  }

 private:
  void walk(int step, const std::vector<Operation>& posted) {
    for (std::size_t r = 0; r < graphs_.size(); ++r)
      if (times_.count({step, static_cast<std::int64_t>(r)}) > 0 || !sits_out(posted, static_cast<int>(r)))
        compute_until(step, r);
    for (const Operation& operation : posted)
      if (operation.rule->overlap_steps == 0)
        exchange(operation, [&](std::size_t r) -> Ids& { return graphs_[r].last; });
    if (const auto due = pending_.find(step); due != pending_.end()) {
      for (std::size_t r = 0; r < graphs_.size(); ++r)
        graphs_[r].last.insert(graphs_[r].last.end(), due->second[r].begin(), due->second[r].end());
      pending_.erase(due);
    }
    for (const Operation& operation : posted)
      if (operation.rule->overlap_steps > 0) post_overlapped(operation);
  }

  // Without a row of the step, its compute goes on to the next one.
  static bool sits_out(const std::vector<Operation>& posted, int replica) {
    return std::any_of(posted.begin(), posted.end(), [replica](const Operation& operation) {
      return std::count(operation.groups.begin(), operation.groups.end(), std::vector<int>{replica}) > 0;
    });
  }

  void compute_until(int step, std::size_t r) {
    const auto known = times_.find({step, static_cast<std::int64_t>(r)});
    if (known == times_.end())
      throw DamagedFile(
          fmt::format("{}: the end of step {} of replica {} is neither in exchanges.csv nor in steps.csv",
                      folder_, step, r));
    Graph& graph = graphs_[r];
    graph.last = {graph.comp(fmt::format("compute to step {}", step),
                             std::max(0., known->second.computed_s - graph.clock_s), graph.last)};
    graph.clock_s = known->second.done_s;
  }

  // Each member's nodes follow, and then replace, what `front` has for it.
  template <typename Front>
  void exchange(const Operation& operation, const Front& front) {
    std::vector<std::vector<int>> groups = operation.groups;
    if (groups.empty()) {
      groups.emplace_back(graphs_.size());
      std::iota(groups[0].begin(), groups[0].end(), 0);
    }
    for (const std::vector<int>& group : groups) {
      if (group.size() < 2) continue;
      const std::string name = fmt::format("{} of step {}", operation.rule->name, operation.post_step);
      const Collective& collective = find_collective(operation.rule->collective);
      if (!is_messages(collective)) {
        for (const int r : group)
          front(as_index(r)) = {graphs_[as_index(r)].collective(name, type_of(collective), operation.bytes,
                                                                front(as_index(r)))};
      } else {
        average(operation, collective, name, group, front);
      }
    }
  }

  template <typename Front>
  void average(const Operation& operation, const Collective& collective, const std::string& name,
               const std::vector<int>& group, const Front& front) {
    const auto tensors = static_cast<std::int64_t>(operation.rule->payload.size());
    const std::int64_t parts = collective.is_by_tensor() ? tensors : 1;
    for (std::int64_t part = 0; part < parts; ++part) {
      const Piece piece{parts == 1 ? name : name + ", " + operation.rule->payload[as_index(part)].tensor,
                        operation.bytes * (part + 1) / parts - operation.bytes * part / parts,
                        tag(operation) * std::max<std::int64_t>(1, tensors) + part};
      if (collective.has_root())
        gather_and_return(piece, group, front);
      else
        swap(piece, group, operation.targets, front);
    }
  }

  // Between all members, or from each to its targets.
  template <typename Front>
  void swap(const Piece& piece, const std::vector<int>& group, const std::vector<std::vector<int>>& targets,
            const Front& front) {
    const auto sends = [&](int from, int to) {
      if (targets.empty()) return true;
      const std::vector<int>& those = targets[as_index(from)];
      return std::find(those.begin(), those.end(), to) != those.end();
    };
    for (const int r : group) {
      const Ids before = front(as_index(r));
      Ids all;
      for (const int peer : group) {
        if (peer == r) continue;
        if (sends(peer, r)) all.push_back(receive(piece, peer, r, before));
        if (sends(r, peer)) all.push_back(send(piece, r, peer, before));
      }
      front(as_index(r)) = all.empty() ? before : all;
    }
  }

  template <typename Front>
  void gather_and_return(const Piece& piece, const std::vector<int>& group, const Front& front) {
    const int root = group[0];
    Ids gathered, returned;
    for (const int r : group)
      if (r != root) gathered.push_back(receive(piece, r, root, front(as_index(root))));
    for (const int r : group) {
      if (r == root) continue;
      returned.push_back(send(piece, root, r, gathered));
      const std::int64_t sent = send(piece, r, root, front(as_index(r)));
      front(as_index(r)) = {receive(piece, root, r, {sent})};
    }
    front(as_index(root)) = returned;
  }

  std::int64_t send(const Piece& piece, int from, int to, const Ids& after) {
    return graphs_[as_index(from)].message(kSendNode, fmt::format("{}, to {}", piece.name, to), from, to,
                                           piece.tag, piece.bytes, after);
  }
  std::int64_t receive(const Piece& piece, int from, int to, const Ids& after) {
    return graphs_[as_index(to)].message(kReceiveNode, fmt::format("{}, from {}", piece.name, from), from, to,
                                         piece.tag, piece.bytes, after);
  }

  void post_overlapped(const Operation& operation) {
    if (operation.await_step > trace_.context.steps) return;
    std::vector<Ids> fronts;
    for (const Graph& graph : graphs_) fronts.push_back(graph.last);
    const std::vector<Ids> before = fronts;
    exchange(operation, [&](std::size_t r) -> Ids& { return fronts[r]; });
    std::vector<Ids>& pending = pending_[operation.await_step];
    pending.resize(graphs_.size());
    for (std::size_t r = 0; r < graphs_.size(); ++r)
      if (fronts[r] != before[r]) pending[r].insert(pending[r].end(), fronts[r].begin(), fronts[r].end());
  }

  std::int64_t tag(const Operation& operation) const {
    const auto rule = static_cast<std::int64_t>(operation.rule - trace_.plan.rules.data());
    return operation.post_step * static_cast<std::int64_t>(trace_.plan.rules.size()) + rule;
  }

  std::string folder_;
  Times times_;
  Trace trace_;
  std::vector<Graph> graphs_;
  std::map<int, std::vector<Ids>> pending_;  // by the step that waits for them
};

}  // namespace

std::vector<Json> chakra_graphs(const std::string& case_folder) {
  return Exporter(case_folder).run();
}

}  // namespace longhaul
