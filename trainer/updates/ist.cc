// Independent subnetwork training (arXiv 1910.02120). φ is the whole model as the last round left it, θ_i the
// subnetwork of replica i in its full width: the columns of the units of others are zero, and since nothing
// flows through such a unit, they have no gradient. After H steps
//
//   columns of no unit    φ ← mean of all θ_i;  θ_i ← φ
//   columns of a unit     φ ← θ_j of its owner j;  θ_i ← φ at the next owner, 0 elsewhere
//
// Where outputs are averaged, the columns that read a unit stand in φ divided by N: nothing reads them there
// but evaluations, and θ_i has what was sent.
//
// The optimizer's moments of all units begin a round at zero: those of units that a replica has lost would
// move them away from zero, and those of units that it gets are with another one.
#include <algorithm>
#include <mutex>

#include "core/base/index.h"
#include "core/plan/hidden_units.h"
#include "trainer/operations/update.h"

namespace longhaul {
namespace {

// By column of a row: whether it reads what a unit puts out. Units are columns of the matrices that read them
// and rows of those that make them.
std::vector<bool> reading_columns(const std::vector<HiddenUnits>& families, std::int64_t parameters) {
  std::vector<bool> reads(as_index(parameters));
  for (const HiddenUnits& units : families)
    for (const UnitColumns& matrix : units.matrices)
      if (matrix.rows > 1)
        std::fill_n(reads.begin() + matrix.offset, units.count * matrix.rows * matrix.width, true);
  return reads;
}

class SubnetworkUpdate : public Update {
 public:
  explicit SubnetworkUpdate(bool averages_outputs) : averages_outputs_(averages_outputs) {}

  Slot product() const override { return Slot::kSlowWeights; }
  std::vector<Slot> changed_state() const override { return {Slot::kFirstMoment, Slot::kSecondMoment}; }

  void follow(const OperationPlan& plan, const PlanContext& context) override {
    context_ = context;
    for (const OperationRule& rule : plan.rules)
      if (rule.kind == OperationKind::kAllToAll) units_ = rule.units;
    if (averages_outputs_) reads_unit_ = reading_columns(units_, context.parameters);
  }

  void start(Replicas& replicas) override {
    start_slow_weights(replicas);
    Arena& arena = replicas.arena;
    const std::vector<int> owners = *owners_in(0);
    replicas.backend.for_each(arena.held().size(), [&](int at) {
      const int replica = arena.held().first + at;
      keep_own(owners, replica, {0, arena.parameters()}, arena.row(Slot::kWeights, replica));
      average_outputs({0, arena.parameters()}, arena.row(Slot::kSlowWeights, replica));
    });
  }

  bool counts_rounds() const override { return true; }
  ColumnHolders holders(const Operation& operation) const override {
    const int round = round_at(*operation.rule, operation.post_step);
    return {owners_in(round - 1), owners_in(round)};
  }

  void apply(const Operation& operation, int replica, const Arrived& arrived, Arena& arena) const override {
    const bool is_shared = operation.rule->kind != OperationKind::kAllToAll;
    const float* arrived_weights = arrived.mean("weights");
    float* weights = arena.row(Slot::kWeights, replica) + arrived.begin;
    float* whole = arena.row(Slot::kSlowWeights, replica) + arrived.begin;
    for (float* row : {whole, weights}) std::copy_n(arrived_weights, arrived.size(), row);
    average_outputs({arrived.begin, arrived.end}, whole);
    if (is_shared) return;
    keep_own(*holders(operation).after, replica, {arrived.begin, arrived.end}, weights);
    for (const Slot moment : changed_state())
      std::fill_n(arena.row(moment, replica) + arrived.begin, arrived.size(), 0.f);
  }

 private:
  // weights [columns.size()]: zero where a unit is another replica's.
  static void keep_own(const std::vector<int>& owners, int replica, ColumnRange columns, float* weights) {
    for (std::int64_t i = 0; i < columns.size(); ++i) {
      const int owner = owners[as_index(columns.begin + i)];
      if (owner != kShared && owner != replica) weights[i] = 0;
    }
  }

  // weights [columns.size()]
  void average_outputs(ColumnRange columns, float* weights) const {
    if (!averages_outputs_) return;
    const auto replicas = static_cast<float>(context_.replicas);
    for (std::int64_t i = 0; i < columns.size(); ++i)
      if (reads_unit_[as_index(columns.begin + i)]) weights[i] /= replicas;
  }

  // Of the last two rounds that were asked for; from any thread.
  std::shared_ptr<const std::vector<int>> owners_in(int round) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    Known& known = known_[round % 2];
    if (known.round != round)
      known = {round, std::make_shared<const std::vector<int>>(column_owners(
                          context_.seed, units_, context_.replicas, round, context_.parameters))};
    return known.owners;
  }

  struct Known {
    int round = -1;
    std::shared_ptr<const std::vector<int>> owners = nullptr;
  };

  const bool averages_outputs_;
  PlanContext context_;
  std::vector<HiddenUnits> units_;
  std::vector<bool> reads_unit_;  // by column
  mutable std::mutex mutex_;
  mutable Known known_[2];
};

}  // namespace

std::unique_ptr<Update> make_ist_update(const Json& options) {
  return std::make_unique<SubnetworkUpdate>(options.at("unit_outputs") == "mean");
}

}  // namespace longhaul
