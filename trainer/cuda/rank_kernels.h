// The kernels over the rows of one rank, of which a group has more elsewhere, as plain functions
// (row_kernels.h). Work: one of those that rank_steps.cu names; over `columns` of `rows` of them.
#pragma once

#include "trainer/cuda/rank_rows.h"
#include "trainer/device/cuda_device.h"

namespace longhaul {

template <typename Work>
void over_rows_on_device(const Work& work, std::int64_t rows, std::int64_t columns, CudaStream stream);

}  // namespace longhaul
