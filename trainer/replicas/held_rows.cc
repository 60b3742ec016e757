#include "trainer/replicas/held_rows.h"

#include <algorithm>

#include "core/base/index.h"

namespace longhaul {

HeldRows::HeldRows(Arena& arena, std::vector<int>& optimizer_steps)
    : arena_(arena), optimizer_steps_(optimizer_steps) {
  for (const Slot slot : arena.slots())
    if (slot != Slot::kGradient && slot != Slot::kError) slots_.push_back(slot);
}

void HeldRows::hold(std::size_t copy, int source) {
  Rows& rows = held_[copy];
  for (const Slot slot : slots_) {
    const float* row = arena_.row(slot, source);
    rows.values.emplace_back(row, row + arena_.parameters());
  }
  rows.optimizer_steps = optimizer_steps_[as_index(source)];
}

void HeldRows::become(std::size_t copy, int replica) {
  const Rows& rows = held_.at(copy);
  for (std::size_t i = 0; i < slots_.size(); ++i)
    std::copy(rows.values[i].begin(), rows.values[i].end(), arena_.row(slots_[i], replica));
  if (arena_.has(Slot::kError)) std::fill_n(arena_.row(Slot::kError, replica), arena_.parameters(), 0.f);
  optimizer_steps_[as_index(replica)] = rows.optimizer_steps;
  held_.erase(copy);
}

std::vector<std::pair<std::string, std::vector<float>*>> HeldRows::tables() {
  std::vector<std::pair<std::string, std::vector<float>*>> tables;
  for (auto& [copy, rows] : held_)
    for (std::size_t i = 0; i < slots_.size(); ++i)
      tables.emplace_back("copied." + std::to_string(copy) + "." + slots_[i].name, &rows.values[i]);
  return tables;
}

Json HeldRows::state() const {
  Json held = Json::array();
  for (const auto& [copy, rows] : held_) held.push_back({copy, rows.optimizer_steps});
  return held;
}

void HeldRows::expect(const Json& state) {
  held_.clear();
  for (const Json& entry : state) {
    Rows& rows = held_[entry.at(0).get<std::size_t>()];
    rows.values.assign(slots_.size(), std::vector<float>(as_index(arena_.parameters())));
    rows.optimizer_steps = entry.at(1);
  }
}

}  // namespace longhaul
