#include "trainer/replicas/copied_rows.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {

CopiedRows::CopiedRows(const Absences& absences, Arena& arena, std::vector<int>& optimizer_steps)
    : absences_(absences),
      arena_(arena),
      optimizer_steps_(optimizer_steps),
      is_made_(absences.copies().size()) {
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

// The replica's next one; their count if there is none.
std::size_t CopiedRows::next_of(int replica) const {
  const std::vector<Absences::Copy>& copies = absences_.copies();
  std::size_t next = 0;
  while (next < copies.size() && (copies[next].replica != replica || is_made_[next])) ++next;
  return next;
}

// Where the replica itself came back after this step, those that come later in their order are of what it
// began with.
bool CopiedRows::is_read_now(std::size_t copy, int replica, int step) const {
  const std::vector<Absences::Copy>& copies = absences_.copies();
  if (copies[copy].source != replica || copies[copy].copied_step != step || is_made_[copy]) return false;
  if (copy > next_of(replica)) return false;
  for (std::size_t own = copy + 1; own < copies.size(); ++own)
    if (copies[own].replica == replica && is_made_[own]) return false;
  return true;
}

bool CopiedRows::is_read_after(int replica, int step) const {
  for (std::size_t copy = 0; copy < is_made_.size(); ++copy)
    if (is_read_now(copy, replica, step)) return true;
  return false;
}

void CopiedRows::after(int replica, int step) {
  for (std::size_t copy = 0; copy < is_made_.size(); ++copy)
    if (is_read_now(copy, replica, step)) waiting_[copy] = read(replica);
}

bool CopiedRows::make_next(int replica) {
  const auto found = waiting_.find(next_of(replica));
  if (found == waiting_.end()) return false;
  make(replica, found->second);
  is_made_[found->first] = true;
  waiting_.erase(found);
  return true;
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

Json CopiedRows::state() const {
  Json waiting = Json::array(), made = Json::array();
  for (const auto& [copy, rows] : waiting_) waiting.push_back({copy, rows.optimizer_steps});
  for (std::size_t copy = 0; copy < is_made_.size(); ++copy)
    if (is_made_[copy]) made.push_back(copy);
  return {{"waiting", waiting}, {"made", made}};
}

void CopiedRows::expect(const Json& state) {
  const auto number_of = [this](const Json& copy) {
    if (copy.get<std::size_t>() >= is_made_.size())
      throw InputError("copied", "found " + copy.dump(), "below " + std::to_string(is_made_.size()),
                       "the checkpoint is of a training with other absences");
    return copy.get<std::size_t>();
  };
  waiting_.clear();
  for (const Json& entry : state.at("waiting")) {
    Rows& rows = waiting_[number_of(entry.at(0))];
    rows.values.assign(slots_.size(), std::vector<float>(as_index(arena_.parameters())));
    rows.optimizer_steps = entry.at(1);
  }
  is_made_.assign(is_made_.size(), false);
  for (const Json& copy : state.at("made")) is_made_[number_of(copy)] = true;
}

}  // namespace longhaul
