// The kernels over the arena's tables, as plain functions: pointers into device memory, sizes, a stream. They
// need neither LibTorch nor CUDA's headers to be called; the host reference of each is updates/. They start
// the work and return; a start that fails throws RunError.
//
// One pass over memory each, and the same bits each time. All tables are row-major float32 [R, P] and aligned
// to 16 bytes; where P is a multiple of 4, a thread takes 16 bytes at a time.
#pragma once

#include "trainer/cuda/microbatch_rows.h"
#include "trainer/cuda/optimizer_rows.h"
#include "trainer/cuda/outer_rows.h"
#include "trainer/cuda/spread_rows.h"
#include "trainer/device/cuda_device.h"

namespace longhaul {

struct AdamwTables {
  float *weights, *gradient, *first_moment, *second_moment;
  std::int64_t replicas, columns;
  // The weights once more as products in bf16 take them; null: not kept. What changes weights writes it too.
  Bf16* narrow = nullptr;
};

// factors [R] ← clip factors of the gradients; `partial` [R · norm_slices(P)] is for the kernels between.
void clip_factors_on_device(const AdamwTables& tables, double largest, double* partial, float* factors,
                            CudaStream stream);

// `factors` [R], `scalars`, and `decaying` and `left_out` [ceil(P / 32)] in device memory; `left_out` null:
// all columns are AdamW's.
void adamw_on_device(const AdamwTables& tables, const float* factors, const StepScalars* scalars,
                     const std::uint32_t* decaying, const std::uint32_t* left_out,
                     const AdamwConstants& constants, CudaStream stream);

// `narrow` from the weights, where something else has changed them.
void narrow_on_device(const AdamwTables& tables, CudaStream stream);

// Of one matrix of each replica: its momentum, and `work` [R, rows · columns] ← what Newton–Schulz steps
// begin with. `partial` [R · norm_slices(rows · columns)] and `inverse` [R] are for the kernels between.
void muon_look_ahead_on_device(const AdamwTables& tables, const MuonMatrix& matrix, float momentum,
                               const float* factors, float* work, double* partial, float* inverse,
                               CudaStream stream);
// Its weights, from `work` as the steps left it.
void muon_update_on_device(const AdamwTables& tables, const MuonMatrix& matrix, const float* work,
                           const MuonScalars* scalars, CudaStream stream);

// `groups` of the tables in device memory too. Step: one of those that outer_steps.cu names.
template <typename Step>
void outer_step_on_device(const OuterTables& tables, std::int64_t groups, const Step& step,
                          CudaStream stream);
// packed [R, P] ← rows, in the format that they are rounded to.
void pack_on_device(const float* rows, void* packed, Wire format, std::int64_t replicas, std::int64_t columns,
                    CudaStream stream);
void average_on_device(float* rows, const GroupTable& table, std::int64_t groups, Wire wire,
                       std::int64_t columns, CudaStream stream);

// One of the works of microbatch_rows.h, over so many columns; its paths in device memory.
template <typename Work>
void along_paths_on_device(const Work& work, std::int64_t replicas, std::int64_t columns, CudaStream stream);

// Of an evaluation (spread_rows.h), or between ranks (rank_rows.h): one of the works that outer_steps.cu
// names, over so many columns or blocks.
template <typename Work>
void over_columns_on_device(const Work& work, std::int64_t columns, CudaStream stream);

}  // namespace longhaul
