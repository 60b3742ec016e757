#include "trainer/cuda/card_tables.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {

CardTables::CardTables(Arena& arena, const std::vector<Slot>& on_host)
    : arena_(arena), bytes_(sizeof(float) * as_index(arena.held().size() * arena.parameters())) {
  for (const Slot slot : arena.slots()) {
    Table table{arena.row(slot, arena.held().first), {}, nullptr};
    if (std::find(on_host.begin(), on_host.end(), slot) != on_host.end())
      table.pages = std::make_unique<RegisteredMemory>(table.arena, bytes_);
    else
      table.on_card = DeviceTable<float>(bytes_ / sizeof(float));
    tables_.push_back(std::move(table));
  }
}

float* CardTables::of(Slot slot) const {
  const Table& table = tables_[arena_.index_of(slot)];
  return table.on_card.get() ? table.on_card.get() : static_cast<float*>(table.pages->on_card());
}

void CardTables::upload(Slot slot) {
  const Table& table = tables_[arena_.index_of(slot)];
  if (table.on_card.get()) copy_to_device(table.on_card.get(), table.arena, bytes_);
}

// Pages that stay where they are take a copy four times as fast. Where the machine allows no more of them,
// the copy goes without.
void CardTables::download(Slot slot) {
  Table& table = tables_[arena_.index_of(slot)];
  if (!table.on_card.get()) return;
  try {
    if (!table.pages && !cannot_pin_) table.pages = std::make_unique<RegisteredMemory>(table.arena, bytes_);
  } catch (const RunError&) {
    cannot_pin_ = true;
  }
  copy_to_host(table.arena, table.on_card.get(), bytes_);
}

}  // namespace longhaul
