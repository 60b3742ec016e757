// The step runs in a process beside this one, which maps the tables that it names: no row is copied but what
// has arrived. Against pybind11: a user's python3 and packages as they are, no Python in the trainer's build,
// and an error in the step cannot take the trainer with it; a request costs 0.1 ms.
#include "trainer/operations/python_update.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/plan/kept_rows.h"
#include "core/scenario/case.h"
#include "methods/common/python_step.h"

namespace longhaul {
namespace {

// What has arrived: an arena of its own, with one table of a row a replica, or a group where it is a mean.
struct Staged {
  std::string tensor;
  bool is_mean;
  std::unique_ptr<Arena> rows;
};

int group_of(const Operation& operation, int replica) {
  for (std::size_t group = 0; group < operation.groups.size(); ++group)
    for (const int member : operation.groups[group])
      if (member == replica) return static_cast<int>(group);
  return 0;
}

class PythonUpdate : public Update {
 public:
  PythonUpdate(const Json& options, std::unique_ptr<Update> like)
      : options_(options), like_(std::move(like)) {}

  void follow(const OperationPlan& plan, const PlanContext& context) override {
    like_->follow(plan, context);
    keeps_ = plan.keeps;
  }

  void start(Replicas& replicas) override {
    check_python_content(options_);
    Arena& arena = replicas.arena;
    if (arena.has(Slot::kSlowWeights)) start_slow_weights(replicas);
    Json tables = Json::object(), arrived = Json::object();
    std::vector<int> files;
    std::vector<std::string> rows = {Slot::kWeights.name};
    rows.insert(rows.end(), keeps_.begin(), keeps_.end());
    const Json& python = options_.at("python");
    for (const std::string& name : python.at("reads").get<std::vector<std::string>>()) {
      for (const std::string& row : rows)
        if (python_name_of(row) == name) tables[name] = files.emplace_back(arena.share(slot_named(row)));
      const bool is_mean = name.rfind("mean_", 0) == 0;
      if (!is_mean && name.rfind("sent_", 0) != 0) continue;
      staged_.push_back(
          {name.substr(5), is_mean,
           std::make_unique<Arena>(std::vector<Slot>{Slot::kWeights}, arena.replicas(), arena.parameters())});
      arrived[name] = files.emplace_back(staged_.back().rows->share(Slot::kWeights));
    }
    Json layout = Json::array();
    if (python.contains("model"))
      for (const Parameter& tensor : parameter_layout(parse_model(python["model"], "train.model")))
        layout.push_back({tensor.offset, tensor.offset + tensor.size(), {tensor.rows, tensor.columns}});
    else
      layout.push_back({0, arena.parameters(), {1, arena.parameters()}});
    child_ = std::make_unique<PythonChild>();
    child_->ask({{"file", python.at("file")}});
    child_->ask({{"tables", tables},
                 {"arrived", arrived},
                 {"replicas", arena.replicas()},
                 {"columns", arena.parameters()},
                 {"layout", layout},
                 {"parameters", python_parameters(options_)},
                 {"threads", replicas.backend.threads()}});
    for (const int file : files) close(file);
  }

  std::pair<Slot, const Slot*> source(const std::string& tensor) const override {
    for (const std::string& row : keeps_)
      if (python_name_of(row) == tensor) return {slot_named(row), nullptr};
    return like_->source(tensor);
  }

  std::vector<std::string> reads(const Operation& operation) const override {
    if (like_->reads(operation).empty()) return {};
    std::vector<std::string> tensors;
    for (const Staged& staged : staged_)
      if (std::find(tensors.begin(), tensors.end(), staged.tensor) == tensors.end())
        tensors.push_back(staged.tensor);
    return tensors.empty() ? operation.rule->tensors() : tensors;
  }

  bool counts_senders_alone() const override { return like_->counts_senders_alone(); }

  void apply(const Operation& operation, int replica, const Arrived& arrived, Arena&) const override {
    for (const Staged& staged : staged_)
      std::copy_n(staged.is_mean ? arrived.mean(staged.tensor.c_str()) : arrived.own(staged.tensor.c_str()),
                  arrived.size(),
                  staged.rows->row(Slot::kWeights, staged.is_mean ? group_of(operation, replica) : replica) +
                      arrived.begin);
  }

  // One request for all groups: a conversation for each cost more than the step of a small model.
  void finish_groups(const Operation& operation, const std::vector<std::vector<int>>& groups,
                     const Replicas& replicas) const override {
    Json ranges = Json::array(), rows = Json::array();
    for (const ColumnRange& range :
         ranges_of(operation.rule->payload.front().columns, replicas.arena.parameters()))
      ranges.push_back({range.begin, range.end});
    for (const std::vector<int>& group : groups) rows.push_back({group_of(operation, group.front()), group});
    child_->ask({{"groups", rows},
                 {"ranges", ranges},
                 {"round", round_at(*operation.rule, operation.post_step)},
                 {"losses", replicas.losses ? *replicas.losses
                                            : std::vector<double>(as_index(replicas.arena.replicas()))}});
  }

 private:
  const Json options_;
  const std::unique_ptr<Update> like_;
  std::vector<std::string> keeps_;
  std::vector<Staged> staged_;
  std::unique_ptr<PythonChild> child_;
};

}  // namespace

std::unique_ptr<Update> make_python_update(const Json& method_options, std::unique_ptr<Update> like) {
  return std::make_unique<PythonUpdate>(method_options, std::move(like));
}

}  // namespace longhaul
