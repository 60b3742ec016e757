#include "trainer/held_rows.h"

#include <algorithm>

#include "core/base/index.h"

namespace longhaul {

HeldRows::HeldRows(Replicas& replicas, std::vector<int>& optimizer_steps)
    : replicas_(replicas), optimizer_steps_(optimizer_steps) {
  for (const Slot slot : replicas.arena.slots())
    if (slot != Slot::kGradient && slot != Slot::kError) slots_.push_back(slot);
}

void HeldRows::hold(std::size_t copy, int source) {
  Rows& rows = held_[copy];
  rows = {source, optimizer_steps_[as_index(source)]};
  rows.values.resize(slots_.size());
  if (!replicas_.arena.held().contains(source)) return;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const float* row = replicas_.arena.row(slots_[i], source);
    rows.values[i].assign(row, row + replicas_.arena.parameters());
  }
}

void HeldRows::become(std::size_t copy, int replica) {
  const Rows& rows = held_.at(copy);
  Arena& arena = replicas_.arena;
  const int from = holder_of(replicas_.ranks, arena.replicas(), rows.source),
            to = holder_of(replicas_.ranks, arena.replicas(), replica);
  const auto bytes = as_index(arena.parameters()) * sizeof(float);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    float* row = arena.held().contains(replica) ? arena.row(slots_[i], replica) : nullptr;
    if (row && from == to) std::copy(rows.values[i].begin(), rows.values[i].end(), row);
    if (row && from != to) replicas_.ranks.receive(from, kLockstep, row, bytes)->wait();
    if (!row && from != to && arena.held().contains(rows.source))
      replicas_.ranks.send(to, kLockstep, rows.values[i].data(), bytes)->wait();
  }
  if (arena.has(Slot::kError) && arena.held().contains(replica))
    std::fill_n(arena.row(Slot::kError, replica), arena.parameters(), 0.f);
  optimizer_steps_[as_index(replica)] = rows.optimizer_steps;
  held_.erase(copy);
}

std::string HeldRows::name_of(std::size_t copy, Slot slot) const {
  return "copied." + std::to_string(copy) + "." + slot.name;
}

std::vector<TensorView> HeldRows::tensors() {
  std::vector<TensorView> tensors;
  for (auto& [copy, rows] : held_)
    for (std::size_t i = 0; i < slots_.size(); ++i)
      tensors.push_back(held_tensor(replicas_, name_of(copy, slots_[i]), "F32", replicas_.arena.parameters(),
                                    rows.source, rows.values[i].data()));
  return tensors;
}

Json HeldRows::state() const {
  Json held = Json::array();
  for (const auto& [copy, rows] : held_) held.push_back({copy, rows.source, rows.optimizer_steps});
  return held;
}

void HeldRows::restore(const Json& state, CheckpointTensors& tensors) {
  for (const Json& json : state) {
    const std::size_t copy = json.at(0);
    Rows& rows = held_[copy];
    rows = {json.at(1), json.at(2)};
    for (const Slot slot : slots_)
      rows.values.push_back(tensors.held(name_of(copy, slot), rows.source, replicas_.arena.parameters()));
  }
}

}  // namespace longhaul
