// A few neighbouring float32 columns that a thread reads and writes at once: 16 bytes keep a GPU's memory
// busier than 4. Columns of rows whose length is no multiple of 4 are taken one by one.
#pragma once

#include <cstdint>

#include "trainer/device/host_device.h"

namespace longhaul {

template <int kColumns>
struct alignas(4 * kColumns) Pack {
  float at[kColumns];

  LONGHAUL_HOST_DEVICE static Pack read(const float* from) { return *reinterpret_cast<const Pack*>(from); }
  LONGHAUL_HOST_DEVICE void write(float* to) const { *reinterpret_cast<Pack*>(to) = *this; }
};

constexpr int kPackedColumns = 4;

// Whether all packs of rows of this length, one after the other, are aligned; the table itself has to be.
inline bool rows_take_packs(std::int64_t columns) {
  return columns % kPackedColumns == 0;
}

}  // namespace longhaul
