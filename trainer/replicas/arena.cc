#include "trainer/replicas/arena.h"

#include <cassert>
#include <cstdlib>

#include "core/errors.h"
#include "core/units.h"

namespace longhaul {

void Arena::Free::operator()(float* table) const {
  std::free(table);
}

Arena::Arena(int slots, int replicas, std::int64_t parameters)
    : replicas_(replicas), parameters_(parameters) {
  const std::size_t elements = static_cast<std::size_t>(replicas) * static_cast<std::size_t>(parameters);
  for (int slot = 0; slot < slots; ++slot) {
    // calloc: pages of zeros that cost nothing before they are touched.
    tables_.emplace_back(static_cast<float*>(std::calloc(elements, sizeof(float))));
    if (!tables_.back())
      throw RunError("not enough memory for " + std::to_string(replicas) + " replicas of " +
                     std::to_string(parameters) + " parameters: " + std::to_string(slots) + " tables of " +
                     human_bytes(static_cast<double>(elements) * sizeof(float)));
  }
}

std::int64_t Arena::bytes() const {
  return static_cast<std::int64_t>(tables_.size() * sizeof(float)) * replicas_ * parameters_;
}

float* Arena::row(Slot slot, int replica) {
  assert(has(slot) && replica >= 0 && replica < replicas_);
  return tables_[static_cast<std::size_t>(slot)].get() + replica * parameters_;
}

const float* Arena::row(Slot slot, int replica) const {
  return const_cast<Arena*>(this)->row(slot, replica);
}

}  // namespace longhaul
