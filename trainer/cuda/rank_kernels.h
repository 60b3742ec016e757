// The kernels over a row of one rank's, of whose group more lie elsewhere, as plain functions
// (row_kernels.h). Work: one of those that rank_steps.cu names; over `columns` of the row.
#pragma once

#include "trainer/cuda/rank_rows.h"
#include "trainer/device/cuda_device.h"

namespace longhaul {

template <typename Work>
void over_columns_on_device(const Work& work, std::int64_t columns, CudaStream stream);

}  // namespace longhaul
