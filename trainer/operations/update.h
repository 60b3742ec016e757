// The steps that have a kernel of their own, as an update asks for them (Update::apply_on_device): on tables
// in the GPU's memory, for all groups of an operation at once.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/scenario/case.h"
#include "trainer/codecs/message.h"
#include "trainer/device/host_device.h"
#include "trainer/operations/exchange_log.h"
#include "trainer/optimizer/adamw.h"
#include "trainer/ranks/ranks.h"
#include "trainer/replicas/arena.h"
#include "trainer/replicas/backend.h"

namespace longhaul {

struct DilocoStep;
struct NolocoStep;

class DeviceSteps {
 public:
  virtual ~DeviceSteps() = default;

  // Every member's row becomes the mean of those of its group, as sent.
  virtual void average(Slot slot) = 0;
  virtual void outer_step(const DilocoStep& step) = 0;
  virtual void outer_step(const NolocoStep& step) = 0;
};

// What a method does to the rows of the arena. The plan (methods/) says which operations there are; an update
// says of what rows their payload is made, and takes the method's step when they have arrived. Packing,
// sending, pending messages and logs are the runner's (operation_runner.h). A file for each step
// (cmake/Methods.cmake).

// What an update works on; it owns none of it.
struct Replicas {
  Arena& arena;
  Backend& backend;
  ExchangeLog& log;
  Ranks& ranks = one_rank();  // who holds the rows that the arena does not
  const std::vector<double>* losses =
      nullptr;  // [replicas], of each one's last batch; null: nothing is trained
};

// What has arrived for one member of a group, over columns [begin, end), at most kBlock of them.
class Arrived {
 public:
  struct Tensor {
    const char* name;
    const float* mean;   // [end - begin], over the group, of what was sent; of a kAllToAll all of it
    const Message* own;  // the member's own contribution; null of a kAllToAll
  };

  // `tensors` must outlive it.
  Arrived(std::int64_t begin, std::int64_t end, int members, const std::vector<Tensor>& tensors)
      : begin(begin), end(end), members(members), tensors_(tensors) {}

  // [end - begin]; the mean of the group's contributions in their order, each as the others see it. Of a
  // kAllToAll each column is that of the member that contributes it.
  const float* mean(const char* tensor) const { return find(tensor).mean; }
  // [end - begin]; the member's own contribution, as the others see it. Good until the next call.
  const float* own(const char* tensor) const;

  // [end - begin]; whether the column was sent at all: of a random mask some are not. Good until the next
  // call.
  const bool* travelled(const char* tensor) const;

  std::int64_t size() const { return end - begin; }
  const std::int64_t begin, end;
  const int members;  // of the group; of sends to targets those that this one heard, itself included

 private:
  const Tensor& find(const char* tensor) const;

  const std::vector<Tensor>& tensors_;
  mutable float own_[kBlock];
  mutable bool travelled_[kBlock];
};

class DeviceSteps;

// What a method with an optimizer of its own needs to know of an inner step.
struct InnerStep {
  int step = 0;
  int updates = 0;  // of the replica's optimizer, this one included: fewer than steps where it skipped some
  double lr = 0;
  double clip =
      1;  // what a replica's own gradient is multiplied with (optimizer/adamw.h); of prepare() alone
  const OptimizerSpec& optimizer;
  const std::vector<DecayRange>& decay;
};

// By column of a row [parameters]: the replica whose it was, and the one whose it becomes (hidden_units.h).
struct ColumnHolders {
  std::shared_ptr<const std::vector<int>> before, after;
};

class Update {
 public:
  virtual ~Update() = default;

  // Before start(): the plan that is carried out, and of what.
  virtual void follow(const OperationPlan&, const PlanContext&) {}
  // Once, after the weights are initialized.
  virtual void start(Replicas&) {}
  // The table whose rows are the models that the method makes: what is evaluated, kept at the end and
  // exported.
  virtual Slot product() const { return Slot::kWeights; }
  // The inner optimizer's tables, where apply() changes them.
  virtual std::vector<Slot> changed_state() const { return {}; }

  // The rows whose values, or whose difference, a tensor of a payload is. By default gradient, weights, phi
  // (the slow weights) and delta (weights less slow weights).
  virtual std::pair<Slot, const Slot*> source(const std::string& tensor) const;
  // The tensors that apply() reads: those of the operation's payload, and others that a member sent ahead in
  // an operation that is due at the same step; at first, when nothing could be sent ahead, what would have
  // been. None: the operation does nothing of its own.
  virtual std::vector<std::string> reads(const Operation& operation) const {
    return operation.rule->tensors();
  }
  // What a mean is divided by where members send columns of their own choice (codecs/message.h): by those
  // who sent the column, or by all of the group.
  virtual bool counts_senders_alone() const { return false; }
  // Whether a step depends on the number of the round that it ends (round_at()).
  virtual bool counts_rounds() const { return false; }
  // Of a kAllToAll: who contributes each column, and who gets it.
  virtual ColumnHolders holders(const Operation& operation) const;
  // The step of one member, in place. Members and columns are independent of each other and come in any
  // order, from several threads.
  virtual void apply(const Operation& operation, int replica, const Arrived& arrived, Arena& arena) const = 0;
  // The step of all takers of a group that are held here, over one of the pieces() into which the update cuts
  // an operation's columns: arrive(take) calls take(replica, arrived) for every taker, kBlock columns at a
  // time. By default that is apply().
  using Take = std::function<void(int replica, const Arrived&)>;
  virtual void apply_piece(const Operation& operation, const std::vector<int>& takers, ColumnRange piece,
                           const Replicas& replicas, const std::function<void(const Take&)>& arrive) const;
  virtual std::vector<ColumnRange> pieces(ColumnRange columns, int takers) const;
  // Once apply() has had all columns of a member: the part of its step that needs a number of the whole row.
  // Members are independent of each other.
  virtual void finish(const Operation&, int, Arena&) const {}
  // Whether the method has an optimizer of its own, for some steps at least. Its operations come before the
  // optimizer of each step: prepare() makes what they send, optimize() uses what they brought.
  virtual bool has_own_optimizer() const { return false; }
  virtual void prepare(const InnerStep&, int, Arena&) const {}
  // False: the replica's AdamW or Muon takes this step, on its gradient.
  virtual bool optimize(const InnerStep&, int, Arena&) const { return false; }

  // Of merges (OperationKind::kMerge), over `count` columns, in which they are independent of each other. The
  // synchronizer's step on its model φ, with the mean Δ̄ of what was contributed; and what a replica does with
  // the φ that comes back, to its weights and to what its next Δ is a difference from.
  virtual void merge(std::int64_t count, const float* mean, float* phi, float* momentum) const;
  // Whether Δ̄ is radial_directional_mean() of trainer/merges.h, of each tensor but embeddings.
  virtual bool averages_directions() const { return false; }
  virtual void take_up(std::int64_t count, const float* merged, float* theta, float* anchor) const;

  // A local step of the plan, on columns [begin, end) of the replica's rows. Columns are independent of each
  // other.
  virtual void take(const LocalStep& local, int replica, ColumnRange columns, Arena& arena) const;
  // apply() for all groups at once by the GPU's own kernels (DeviceSteps). False: there is none for
  // it, and the rows go through host memory.
  virtual bool apply_on_device(const Operation&, DeviceSteps&) const { return false; }
};

// `columns` from left to right, as wide as said.
std::vector<ColumnRange> in_pieces(ColumnRange columns, std::int64_t width);

// The groups of an operation with members in ascending order, the order in which rows are summed.
std::vector<std::vector<int>> sorted_groups(const Operation& operation, int replicas);

// What the tensors of a payload travel as: none, unless all go whole, uncompressed and in one format.
std::optional<Wire> plain_wire(const Payload& payload);
// The same of an operation in which all members of a group take the mean of what they all send.
std::optional<Wire> plain_wire(const Operation& operation);

// Logs an operation whose payload travels as the plan says it, as the replicas held here send it: for those
// who exchange on a GPU and make no messages.
void log_payload(const Replicas& replicas, const Operation& operation,
                 const std::vector<std::vector<int>>& groups);

// All updates there are are found by CMake (cmake/Methods.cmake).
struct UpdateMaker {
  std::string method;
  std::unique_ptr<Update> (*make)(const Json& options);
};

const std::vector<UpdateMaker>& update_makers();

// For a method that the scenario's check has let through. Throws std::logic_error where the trainer does not
// know it.
std::unique_ptr<Update> make_update(const MethodSpec& method);

// The update of a method whose step is a user's, in Python (methods/common/python_step.h). `like`: the update
// of the method whose plan is carried out; it says which operations are followed by a step.
std::unique_ptr<Update> make_python_update(const Json& method_options, std::unique_ptr<Update> like);

// Every member's row becomes the mean of those of its group. Of gradients, before the optimizer takes its
// step: what data parallel methods do. Of weights: local SGD, in its many groupings.
class RowAverage : public Update {
 public:
  RowAverage(const char* tensor, Slot slot) : tensor_(tensor), slot_(slot) {}

  void apply(const Operation& operation, int replica, const Arrived& arrived, Arena& arena) const override;
  bool apply_on_device(const Operation& operation, DeviceSteps& steps) const override;

 private:
  const char* tensor_;
  Slot slot_;
};

// What the methods with an outer step share: slow weights φ, a momentum, and a step on a column of one
// replica that the host's loop and the GPU's kernel both call.

// φ = θ for all that are held here.
void start_slow_weights(Replicas& replicas);

class OuterUpdate : public Update {
 public:
  void start(Replicas& replicas) override { start_slow_weights(replicas); }  // no momentum

  // Back to where the round began.
  void take(const LocalStep&, int replica, ColumnRange columns, Arena& arena) const override {
    std::copy_n(arena.row(Slot::kSlowWeights, replica) + columns.begin, columns.size(),
                arena.row(Slot::kWeights, replica) + columns.begin);
  }
};

// Of a replica, from a column on.
struct OuterRows {
  OuterRows(Arena& arena, int replica, std::int64_t begin)
      : theta(arena.row(Slot::kWeights, replica) + begin),
        phi(arena.row(Slot::kSlowWeights, replica) + begin),
        momentum(arena.row(Slot::kOuterMomentum, replica) + begin) {}

  float *theta, *phi, *momentum;
};

// Step: the outer step on one column of a member, from
//   mean_delta   Δ̄, over the group, of Δ_j = θ_j − φ_j
//   mean_phi     φ̄, likewise, and
//   sent_phi     its own φ, as the others see it; both 0 where kReadsPhi is false
//
//   static constexpr bool kReadsPhi, kHasKernel;  // the latter: DeviceSteps has it
//   void operator()(float& theta, float& phi, float& momentum, float mean_delta, float mean_phi,
//                   float sent_phi) const;
template <typename Step>
class ColumnwiseOuterUpdate : public OuterUpdate {
 public:
  explicit ColumnwiseOuterUpdate(const Step& step) : step_(step) {}

  std::vector<std::string> reads(const Operation& operation) const override {
    if (Step::kReadsPhi && !operation.rule->is_blocking()) return {};  // φ, sent ahead for the next step
    return Step::kReadsPhi ? std::vector<std::string>{"delta", "phi"} : std::vector<std::string>{"delta"};
  }

  void apply(const Operation&, int replica, const Arrived& arrived, Arena& arena) const override {
    const OuterRows rows(arena, replica, arrived.begin);
    step_columns(step_, arrived.size(), arrived.mean("delta"),
                 Step::kReadsPhi ? arrived.mean("phi") : nullptr,
                 Step::kReadsPhi ? arrived.own("phi") : nullptr, rows.theta, rows.phi, rows.momentum);
  }

  bool apply_on_device(const Operation&, DeviceSteps& steps) const override {
    if constexpr (Step::kHasKernel) steps.outer_step(step_);
    return Step::kHasKernel;
  }

 protected:
  const Step step_;

 private:
  // A function of its own, since only of parameters compilers believe that they do not overlap.
  static void step_columns(const Step step, std::int64_t count, const float* __restrict mean_delta,
                           const float* __restrict mean_phi, const float* __restrict sent_phi,
                           float* __restrict theta, float* __restrict phi, float* __restrict momentum) {
    for (std::int64_t i = 0; i < count; ++i)
      if constexpr (Step::kReadsPhi)
        step(theta[i], phi[i], momentum[i], mean_delta[i], mean_phi[i], sent_phi[i]);
      else
        step(theta[i], phi[i], momentum[i], mean_delta[i], 0, 0);
  }
};

}  // namespace longhaul
