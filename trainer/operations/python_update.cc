// The step runs in processes beside this one, one a thread, which map the tables that it names: no row is
// copied but what has arrived. Against pybind11: a user's python3 and packages as they are, no Python in the
// trainer's build, and an error in the step cannot take the trainer with it; a request costs 0.1 ms.
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/pool.h"
#include "core/scenario/case.h"
#include "methods/common/python_child.h"
#include "methods/common/python_step.h"
#include "trainer/operations/update.h"

namespace longhaul {
namespace {

// Cells of a piece in all members: few enough for a cache, and as many as that allows, since on a busy
// machine a process may wait for milliseconds until it has its turn. Pieces of kFewest are enough to share
// among threads. numpy is slow on rows narrower than its buffer of kNarrowest numbers.
constexpr std::int64_t kCells = 1 << 19, kFewest = 1 << 16, kNarrowest = 1 << 13;

// An argument of the step that an operation brings: X of mean_X, sent_X or own_X.
struct Brought {
  Slot name;
  std::string tensor;
  bool is_mean;
};

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
    const Json& python = options_.at("python");
    columnwise_ = python.at("columnwise");
    if (python.contains("model"))
      layout_ = parameter_layout(parse_model(python["model"], "train.model"));
    else
      layout_ = {{"", 1, arena.parameters()}};
    Json tables = Json::object();
    std::vector<int> files;
    std::vector<std::string> rows = {Slot::kWeights.name};
    rows.insert(rows.end(), keeps_.begin(), keeps_.end());
    for (const std::string& name : python.at("reads").get<std::vector<std::string>>()) {
      for (const std::string& row : rows)
        if (python_name_of(row) == name) tables[name] = files.emplace_back(arena.share(slot_named(row)));
      for (const std::string kind : {"mean_", "sent_", "own_"})
        if (name.rfind(kind, 0) == 0)
          brought_.push_back({slot_named(name), name.substr(kind.size()), kind == "mean_"});
    }
    std::vector<Slot> slots;
    for (const Brought& one : brought_) slots.push_back(one.name);
    Json arrived = Json::array();
    const int processes = replicas.backend.threads();
    for (int process = 0; process < processes; ++process) {
      processes_.put(process);
      arrived_.push_back(std::make_unique<Arena>(slots, 1, most_cells(arena)));
      arrived.push_back(Json::object());
      for (const Slot& slot : slots)
        arrived.back()[slot.name] = files.emplace_back(arrived_.back()->share(slot));
    }
    child_ = std::make_unique<PythonChild>(processes);
    child_->ask({{"file", python.at("file")}});
    child_->ask({{"tables", tables},
                 {"arrived", arrived},
                 {"cells", most_cells(arena)},
                 {"replicas", arena.replicas()},
                 {"columns", arena.parameters()},
                 {"parameters", python_parameters(options_)},
                 {"others", child_->others()}});
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
    for (const Brought& one : brought_)
      if (std::find(tensors.begin(), tensors.end(), one.tensor) == tensors.end())
        tensors.push_back(one.tensor);
    return tensors.empty() ? operation.rule->tensors() : tensors;
  }

  bool counts_senders_alone() const override { return like_->counts_senders_alone(); }

  void apply(const Operation&, int, const Arrived&, Arena&) const override {
    throw std::logic_error("a step in Python takes pieces");
  }

  // Equally wide, or tensor by tensor.
  std::vector<ColumnRange> pieces(ColumnRange columns, int takers) const override {
    if (columnwise_) {
      const std::int64_t cells = columns.size() * takers, threads = static_cast<int>(arrived_.size()),
                         count = std::max(cells / kCells, std::min(threads - 1, cells / kFewest)) + 1,
                         blocks = columns.size() / (count * kBlock) + 1;
      return in_pieces(columns, std::max(kNarrowest, blocks * kBlock));
    }
    std::vector<ColumnRange> pieces;
    for (const Parameter& tensor : layout_)
      if (const ColumnRange piece{std::max(columns.begin, tensor.offset),
                                  std::min(columns.end, tensor.offset + tensor.size())};
          piece.begin < piece.end)
        pieces.push_back(piece);
    return pieces;
  }

  // What arrives is copied where the process reads it while it is in the caches.
  void apply_piece(const Operation& operation, const std::vector<int>& takers, ColumnRange piece,
                   const Replicas& replicas, const std::function<void(const Take&)>& arrive) const override {
    if (takers.empty()) return;
    Pool<int>::Lent process(processes_);
    Arena& arrived_here = *arrived_[as_index(*process)];
    arrive([&](int replica, const Arrived& arrived) {
      const auto member = std::find(takers.begin(), takers.end(), replica) - takers.begin();
      for (const Brought& one : brought_) {
        float* row = arrived_here.row(one.name, 0) + arrived.begin - piece.begin;
        if (!one.is_mean)
          std::copy_n(arrived.own(one.tensor.c_str()), arrived.size(), row + member * piece.size());
        else if (replica == takers.back())
          std::copy_n(arrived.mean(one.tensor.c_str()), arrived.size(), row);
      }
    });
    const auto tensor = std::find_if(layout_.begin(), layout_.end(), [&](const Parameter& one) {
      return piece.begin < one.offset + one.size();
    });
    Json losses = Json::array();
    for (const int replica : takers)
      losses.push_back(replicas.losses ? (*replicas.losses)[as_index(replica)] : 0.);
    child_->ask({{"members", takers},
                 {"piece", {piece.begin, piece.end}},
                 {"shape", columnwise_ ? Json{1, piece.size()} : Json{tensor->rows, tensor->columns}},
                 {"round", round_at(*operation.rule, operation.post_step)},
                 {"losses", losses}},
                *process);
  }

 private:
  // Of one argument in a piece; pages that are never used cost no memory.
  std::int64_t most_cells(const Arena& arena) const {
    if (columnwise_) return kCells + arena.replicas() * kNarrowest;
    std::int64_t widest = 0;
    for (const Parameter& tensor : layout_) widest = std::max(widest, tensor.size());
    return arena.replicas() * widest;
  }

  const Json options_;
  const std::unique_ptr<Update> like_;
  std::vector<std::string> keeps_;
  bool columnwise_ = false;
  std::vector<Parameter> layout_;
  std::vector<Brought> brought_;
  std::vector<std::unique_ptr<Arena>> arrived_;  // by process; a table an argument, [members, columns]
  std::unique_ptr<PythonChild> child_;
  mutable Pool<int> processes_;  // as many as threads
};

}  // namespace

std::unique_ptr<Update> make_python_update(const Json& method_options, std::unique_ptr<Update> like) {
  return std::make_unique<PythonUpdate>(method_options, std::move(like));
}

}  // namespace longhaul
