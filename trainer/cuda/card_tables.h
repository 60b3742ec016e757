// The arena's tables, of the replicas that are held here, where the card's kernels reach them: on the card,
// or in host memory (OuterState).
#pragma once

#include <memory>
#include <vector>

#include "trainer/cuda/device_table.h"
#include "trainer/replicas/arena.h"

namespace longhaul {

class CardTables {
 public:
  // `on_host`: slots whose tables are the arena's own. `arena` must outlive it.
  CardTables(Arena& arena, const std::vector<Slot>& on_host);

  // [held, P], for kernels.
  float* of(Slot slot) const;
  void clear(Slot slot) { clear_on_device(of(slot), bytes_); }
  // From the arena, and back to it. Nothing where the table is the arena's.
  void upload(Slot slot);
  void download(Slot slot);

 private:
  struct Table {
    float* arena;
    DeviceTable<float> on_card;               // none where kernels use the arena's
    std::unique_ptr<RegisteredMemory> pages;  // the arena's: kernels reach them, and copies are faster
  };

  Arena& arena_;
  std::size_t bytes_;  // of a table
  std::vector<Table> tables_;
  bool cannot_pin_ = false;
};

}  // namespace longhaul
