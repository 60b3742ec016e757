#include "trainer/replicas/copied_rows.h"

#include <algorithm>

#include "core/index.h"

namespace longhaul {

CopiedRows::CopiedRows(const Absences& absences, Arena& arena, std::vector<int>& optimizer_steps)
    : absences_(absences), arena_(arena), optimizer_steps_(optimizer_steps) {
  for (const Slot slot : arena.slots())
    if (slot != Slot::kGradient && slot != Slot::kError) slots_.push_back(slot);
}

CopiedRows::Rows CopiedRows::read(int replica) const {
  Rows rows;
  for (const Slot slot : slots_) {
    const float* row = arena_.row(slot, replica);
    rows.values.emplace_back(row, row + arena_.parameters());
  }
  rows.optimizer_steps = optimizer_steps_[as_index(replica)];
  return rows;
}

void CopiedRows::make(int replica, const Rows& rows) {
  for (std::size_t i = 0; i < slots_.size(); ++i)
    std::copy(rows.values[i].begin(), rows.values[i].end(), arena_.row(slots_[i], replica));
  if (arena_.has(Slot::kError)) std::fill_n(arena_.row(Slot::kError, replica), arena_.parameters(), 0.f);
  optimizer_steps_[as_index(replica)] = rows.optimizer_steps;
}

// In their order: a source may itself have come back after this step.
void CopiedRows::after(int step) {
  const std::vector<Absences::Copy>& copies = absences_.copies();
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (copies[i].copied_step == step) waiting_[i] = read(copies[i].source);
    if (copies[i].step != step) continue;
    make(copies[i].replica, waiting_.at(i));
    waiting_.erase(i);
  }
}

std::string CopiedRows::name_of(std::size_t copy, Slot slot) const {
  return "copied." + std::to_string(copy) + "." + slot.name;
}

std::vector<std::pair<std::string, std::vector<float>*>> CopiedRows::tables() {
  std::vector<std::pair<std::string, std::vector<float>*>> tables;
  for (auto& [copy, rows] : waiting_)
    for (std::size_t i = 0; i < slots_.size(); ++i)
      tables.emplace_back(name_of(copy, slots_[i]), &rows.values[i]);
  return tables;
}

Json CopiedRows::optimizer_steps() const {
  Json counts = Json::array();
  for (const auto& [copy, rows] : waiting_) counts.push_back(rows.optimizer_steps);
  return counts;
}

void CopiedRows::expect(int step, const Json& optimizer_steps) {
  waiting_.clear();
  const std::vector<Absences::Copy>& copies = absences_.copies();
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (copies[i].copied_step > step || copies[i].step <= step) continue;
    Rows& rows = waiting_[i];
    rows.values.assign(slots_.size(), std::vector<float>(as_index(arena_.parameters())));
    rows.optimizer_steps = optimizer_steps.at(waiting_.size() - 1);
  }
}

}  // namespace longhaul
