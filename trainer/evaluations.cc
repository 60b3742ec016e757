#include "trainer/evaluations.h"

#include <fmt/core.h>

#include <algorithm>

namespace longhaul {
namespace {

std::string name_of(const std::pair<int, std::string>& at, int replica) {
  return fmt::format("evaluated.{}.{}.{}", at.first, at.second, replica);
}

}  // namespace

Evaluations::Evaluations(Evaluator& evaluator, Replicas& replicas, Slot product, TrainingFiles& files,
                         Speed& speed)
    : evaluator_(evaluator), replicas_(replicas), product_(product), files_(files), speed_(speed) {}

void Evaluations::use_card(Accelerator& accelerator) {
  accelerator_ = &accelerator;
  evaluator_.use_card(accelerator.rows());
}

void Evaluations::keep(const journal::Keep& entry) {
  std::vector<float>& kept = kept_[{entry.step, entry.phase}][entry.replica];
  const Arena& arena = replicas_.arena;
  if (!arena.held().contains(entry.replica)) return;
  const float* row = arena.row(product_, entry.replica);
  kept.assign(row, row + arena.parameters());
}

void Evaluations::swap_kept(const At& at) {
  for (auto& [replica, row] : kept_[at])
    if (!row.empty()) std::swap_ranges(row.begin(), row.end(), replicas_.arena.row(product_, replica));
}

void Evaluations::evaluate(const journal::Evaluate& entry) {
  const Speed::Stopwatch watch(speed_.evaluations_s);
  const At at(entry.step, entry.phase);
  // Of rows that the card has not all of, or not any more.
  const bool is_on_host = accelerator_ && (kept_.count(at) > 0 || static_cast<int>(entry.replicas.size()) <
                                                                      replicas_.arena.replicas());
  if (accelerator_ && (is_on_host || replicas_.ranks.size() > 1)) accelerator_->download(product_);
  swap_kept(at);
  last_ = evaluator_.evaluate(entry.step, entry.phase, entry.replicas, is_on_host);
  swap_kept(at);
  kept_.erase(at);
  best_loss_ = std::min(best_loss_, last_.mean_loss());
  files_.write(last_);
}

void Evaluations::save(Json& state) const {
  state["best_loss"] = last_.step > 0 ? Json(best_loss_) : Json();
  state["last_evaluation"] = last_.step > 0 ? to_json(last_) : Json();
  state["kept"] = Json::array();
  for (const auto& [at, rows] : kept_)
    for (const auto& [replica, row] : rows) state["kept"].push_back({at.first, at.second, replica});
}

std::vector<TensorView> Evaluations::tensors() const {
  std::vector<TensorView> tensors;
  for (const auto& [at, rows] : kept_)
    for (const auto& [replica, row] : rows)
      tensors.push_back(held_tensor(replicas_, name_of(at, replica), "F32", replicas_.arena.parameters(),
                                    replica, row.data()));
  return tensors;
}

void Evaluations::restore(const Json& state) {
  if (!state.at("best_loss").is_null()) best_loss_ = state["best_loss"];
  if (!state.at("last_evaluation").is_null()) last_ = evaluation_from(state["last_evaluation"]);
}

void Evaluations::restore_kept(const Json& state, CheckpointTensors& tensors) {
  for (const Json& json : state.at("kept")) {
    const At at(json.at(0), json.at(1));
    const int replica = json.at(2);
    kept_[at][replica] = tensors.held(name_of(at, replica), replica, replicas_.arena.parameters());
  }
}

}  // namespace longhaul
