#include "trainer/replicas/arena.h"

#include <sys/mman.h>

#include <cassert>

#include "core/errors.h"
#include "core/units.h"

namespace longhaul {

void Arena::Unmap::operator()(float* table) const {
  munmap(table, bytes);
}

// Pages of zeros that cost nothing before they are touched, and large ones where the system has them: with
// small ones the first reads and writes of a table were a third of a start, and AdamW missed the TLB.
Arena::Arena(int slots, int replicas, std::int64_t parameters, RowBlock held)
    : replicas_(replicas), held_(held), parameters_(parameters) {
  const std::size_t bytes =
      static_cast<std::size_t>(held.size()) * static_cast<std::size_t>(parameters) * sizeof(float);
  for (int slot = 0; slot < slots; ++slot) {
    void* table = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED)
      throw RunError("not enough memory for " + std::to_string(held.size()) + " replicas of " +
                     std::to_string(parameters) + " parameters: " + std::to_string(slots) + " tables of " +
                     human_bytes(static_cast<double>(bytes)));
    madvise(table, bytes, MADV_HUGEPAGE);
    tables_.emplace_back(static_cast<float*>(table), Unmap{bytes});
  }
}

Arena::Arena(int slots, int replicas, std::int64_t parameters)
    : Arena(slots, replicas, parameters, {0, replicas}) {}

std::int64_t Arena::bytes() const {
  return static_cast<std::int64_t>(tables_.size() * sizeof(float)) * replicas_ * parameters_;
}

float* Arena::row(Slot slot, int replica) {
  assert(has(slot) && held_.contains(replica));
  return tables_[static_cast<std::size_t>(slot)].get() + (replica - held_.first) * parameters_;
}

const float* Arena::row(Slot slot, int replica) const {
  return const_cast<Arena*>(this)->row(slot, replica);
}

}  // namespace longhaul
