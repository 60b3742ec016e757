// The lanes that work on one row together. A function over a row is written once for any team: it strides by
// lanes() and adds up with sum(). On the host a team is one lane; on a GPU a warp (launch.cuh).
#pragma once

#include <cstdint>

#include "trainer/device/host_device.h"

namespace longhaul {

struct SerialTeam {
  LONGHAUL_HOST_DEVICE int lane() const { return 0; }
  LONGHAUL_HOST_DEVICE int lanes() const { return 1; }
  // Every lane gets the result.
  template <typename Number>
  LONGHAUL_HOST_DEVICE Number sum(Number value) const {
    return value;
  }
  LONGHAUL_HOST_DEVICE float largest(float value) const { return value; }
};

// How rows and columns are gone through on the host: the launcher of the tests and of the stacked back-end on
// a CPU.
struct HostLaunch {
  // work(team, row) for each row.
  template <typename Work>
  void rows(std::int64_t count, const Work& work) const {
    for (std::int64_t row = 0; row < count; ++row) work(SerialTeam(), row);
  }
  // work(index, column) for each index and each `step`th column.
  template <typename Work>
  void grid(std::int64_t count, std::int64_t columns, int step, const Work& work) const {
    for (std::int64_t index = 0; index < count; ++index)
      for (std::int64_t column = 0; column < columns; column += step) work(index, column);
  }
};

}  // namespace longhaul
