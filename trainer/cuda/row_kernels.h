// The kernels over the arena's tables, as plain functions: pointers into device memory, sizes, a stream. They
// need neither LibTorch nor CUDA's headers to be called; the host reference of each is updates/. They start
// the work and return; a start that fails throws RunError.
//
// One pass over memory each, and the same bits each time. All tables are row-major float32 [R, P] and aligned
// to 16 bytes; where P is a multiple of 4, a thread takes 16 bytes at a time.
#pragma once

#include <cmath>
#include <cstdint>

#include "trainer/cuda/outer_rows.h"
#include "trainer/device/cuda_device.h"
#include "trainer/model/packs.h"
#include "trainer/optimizer/adamw.h"
#include "trainer/optimizer/muon.h"
#include "trainer/pipeline/microbatches.h"

namespace longhaul {

// Paths of micro-batches over tables [R, P] in one memory, a thread a column: what pipeline/microbatches.h
// does row by row. Paths lie in that memory too, so that a captured graph finds those of its step there.

// What a path meets at one place: the columns from `begin` of the replica's row. Replica -1: nothing.
struct DeviceStop {
  int replica;
  std::int64_t begin;
};

// One place of the model, of columns [begin, …) in rows [R, parameters]; paths [R, places].
struct PlaceOfPaths {
  const DeviceStop* paths;
  int places, place;
  std::int64_t parameters, begin;

  LONGHAUL_HOST_DEVICE std::int64_t at_home(std::int64_t home, std::int64_t column) const {
    return home * parameters + begin + column;
  }
  // -1 where the path leaves it out.
  LONGHAUL_HOST_DEVICE std::int64_t where_it_passes(std::int64_t home, std::int64_t column) const {
    const DeviceStop& stop = paths[home * places + place];
    return stop.replica < 0 ? -1 : stop.replica * parameters + stop.begin + column;
  }
};

struct ClearRows {
  float* rows;
  std::int64_t columns;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t row, std::int64_t column) const {
    rows[row * columns + column] = 0;
  }
};

struct GatherPlace {
  PlaceOfPaths of;
  const float* weights;
  float* composed;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t home, std::int64_t column) const {
    const std::int64_t at = of.where_it_passes(home, column);
    composed[of.at_home(home, column)] = at < 0 ? 0 : weights[at];
  }
};

struct ScatterPlace {
  PlaceOfPaths of;
  const float* partial;
  float* gradients;
  float share;
  bool is_first;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t home, std::int64_t column) const {
    const std::int64_t at = of.where_it_passes(home, column);
    if (at < 0) return;
    float& sum = gradients[at];
    sum = with_microbatch(sum, partial[of.at_home(home, column)], share, is_first);
  }
};

// What an evaluation asks of the rows of a table [R, P]: whether they are equal, their mean, and how far they
// are from it, in double and in the order of weight_spread.cc, whose bits these are.

// *differs becomes 1 where a row has other bits than the first one.
struct FindDifferences {
  const std::uint32_t* rows;
  std::int64_t replicas, columns;
  int* differs;  // every thread that writes it writes the same

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t, std::int64_t column) const {
    for (std::int64_t r = 1; r < replicas; ++r)
      if (rows[r * columns + column] != rows[column]) *differs = 1;
  }
};

// Of columns `first` … of the rows: their mean, and the squares of the deviations from it, added up over the
// replicas in their order.
struct CenterColumns {
  const float* rows;
  std::int64_t replicas, columns, first;
  float* mean;      // [P]
  double* squares;  // by column, from the first on

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t, std::int64_t at) const {
    const float* column = rows + first + at;
    double center = 0, sum = 0;
    for (std::int64_t r = 0; r < replicas; ++r) center += static_cast<double>(column[r * columns]);
    center /= static_cast<double>(replicas);
    for (std::int64_t r = 0; r < replicas; ++r) {
      const double away = static_cast<double>(column[r * columns]) - center;
      sum += away * away;
    }
    mean[first + at] = static_cast<float>(center);
    squares[at] = sum;
  }
};

// sums [b] ← squares [count] of block b, one after the other.
struct SumBlocks {
  const double* squares;
  double* sums;
  std::int64_t count, block;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t, std::int64_t b) const {
    const std::int64_t begin = b * block, end = begin + block < count ? begin + block : count;
    double sum = 0;
    for (std::int64_t i = begin; i < end; ++i) sum += squares[i];
    sums[b] = sum;
  }
};

// Clip, AdamW and Muon for all replicas at once, over tables [R, P]: the steps of optimizer/ in functions
// that a GPU runs a warp a row or a thread each few columns; of Muon what its products do not do
// (DeviceMuon).

constexpr std::int64_t kNormSlice = 4096;  // columns whose squares one row of the reduction adds up

inline std::int64_t norm_slices(std::int64_t columns) {
  return (columns + kNormSlice - 1) / kNormSlice;
}

// partial [R · slices] ← the squares of a slice; lanes in float32, their sum in double.
template <int kColumns>
struct SquareSums {
  const float* gradient;
  double* partial;
  std::int64_t columns, slices;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t begin = row % slices * kNormSlice,
                       end = begin + kNormSlice < columns ? begin + kNormSlice : columns;
    const float* from = gradient + row / slices * columns;
    double sum = 0;
    constexpr int kBlock = 32;  // packs whose squares are added in float32
    float block = 0;
    int in_block = 0;
    for (std::int64_t i = begin + team.lane() * kColumns; i < end; i += team.lanes() * kColumns) {
      const Pack<kColumns> g = Pack<kColumns>::read(from + i);
      for (int c = 0; c < kColumns; ++c) block += g.at[c] * g.at[c];
      if (++in_block == kBlock) {
        sum += block;
        block = 0;
        in_block = 0;
      }
    }
    sum = team.sum(sum + block);
    if (team.lane() == 0) partial[row] = sum;
  }
};

// The norm of row `row` of which `partial` has the sums of squares of its slices.
template <typename Team>
LONGHAUL_HOST_DEVICE double norm_of_slices(const Team& team, const double* partial, std::int64_t row,
                                           std::int64_t slices) {
  double sum = 0;
  for (std::int64_t i = team.lane(); i < slices; i += team.lanes()) sum += partial[row * slices + i];
  return sqrt(team.sum(sum));
}

// factors [R] ← what each replica's gradient is multiplied with.
struct ClipFactors {
  const double* partial;
  float* factors;
  std::int64_t slices;
  double largest;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t replica) const {
    const double norm = norm_of_slices(team, partial, replica, slices);
    if (team.lane() != 0) return;
    factors[replica] = static_cast<float>(clip_factor(norm, largest));
  }
};

// narrow ← the weights as products in bf16 take them.
template <int kColumns>
struct NarrowColumns {
  const float* weights;
  Bf16* narrow;
  std::int64_t columns;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t replica, std::int64_t column) const {
    const std::int64_t at = replica * columns + column;
    const NumberPack<float, kColumns> w = read_pack<kColumns>(weights + at);
    Floats<kColumns> copy;
    for (int c = 0; c < kColumns; ++c) copy.at[c] = w[c];
    write_pack<kColumns>(narrow + at, copy);
  }
};

// One pass: reads gradient, weights and both moments, writes the last three, and the weights in bf16.
template <int kColumns>
struct AdamwColumns {
  float* weights;
  const float* gradient;
  float *first_moment, *second_moment;
  const float* factors;           // [R]
  const StepScalars* scalars;     // one, in device memory: a captured graph reads the step's own
  const std::uint32_t* decaying;  // a bit for each column: matrices decay, norms do not
  const std::uint32_t* left_out;  // likewise of the columns that another optimizer has; null: none
  AdamwConstants constants;
  std::int64_t columns;
  Bf16* narrow;  // null: not kept

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t replica, std::int64_t column) const {
    using Columns = Pack<kColumns>;
    const std::int64_t at = replica * columns + column;
    const Columns g = Columns::read(gradient + at);
    Columns w = Columns::read(weights + at), m = Columns::read(first_moment + at),
            v = Columns::read(second_moment + at);
    const float factor = factors[replica];
    const StepScalars step = *scalars;
    const std::uint32_t bits = decaying[column / 32] >> column % 32,
                        others = left_out ? left_out[column / 32] >> column % 32 : 0;
    for (int c = 0; c < kColumns; ++c)
      if (!(others >> c & 1))
        adamw_column(constants, step, bits >> c & 1 ? step.keep : 1.f, factor * g.at[c], w.at[c], m.at[c],
                     v.at[c]);
    w.write(weights + at);
    m.write(first_moment + at);
    v.write(second_moment + at);
    if (!narrow) return;
    Floats<kColumns> copy;
    for (int c = 0; c < kColumns; ++c) copy.at[c] = w.at[c];
    write_pack<kColumns>(narrow + at, copy);
  }
};

// `work` is [R, rows · columns] of one matrix.
struct MuonLookAhead {
  const float* gradient;  // [R, P], from the matrix's first column on, as the other tables
  float* first_moment;
  const float* factors;  // [R], of the clipping
  float momentum;
  float* work;
  std::int64_t columns, size;  // P; of the matrix

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t replica, std::int64_t i) const {
    const std::int64_t at = replica * columns + i;
    work[replica * size + i] = muon_look_ahead(momentum, factors[replica] * gradient[at], first_moment[at]);
  }
};

// factors [R] ← 1/(‖matrix‖_F + epsilon), from the sums of squares of its slices (SquareSums).
struct InverseNorms {
  const double* partial;
  float* factors;
  std::int64_t slices;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t replica) const {
    const double norm = norm_of_slices(team, partial, replica, slices);
    if (team.lane() == 0) factors[replica] = 1 / (static_cast<float>(norm) + kNewtonSchulzEpsilon);
  }
};

struct ScaleRows {
  float* work;
  const float* factors;  // [R]
  std::int64_t size;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t replica, std::int64_t i) const {
    work[replica * size + i] *= factors[replica];
  }
};

struct MuonColumns {
  float* weights;
  const float* work;           // orthogonalized
  const MuonScalars* scalars;  // one, in device memory: a captured graph reads the step's own
  float scale;
  std::int64_t columns, size;
  Bf16* narrow;  // likewise from the matrix's first column on; null: not kept

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t replica, std::int64_t i) const {
    const std::int64_t at = replica * columns + i;
    muon_column(*scalars, scale, work[replica * size + i], weights[at]);
    if (narrow) store(narrow[at], weights[at]);
  }
};

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

// One of the works on paths, over so many columns; its paths in device memory.
template <typename Work>
void along_paths_on_device(const Work& work, std::int64_t replicas, std::int64_t columns, CudaStream stream);

// Of an evaluation, or between ranks (rank_rows.h): one of the works that outer_steps.cu
// names, over so many columns or blocks.
template <typename Work>
void over_columns_on_device(const Work& work, std::int64_t columns, CudaStream stream);

}  // namespace longhaul
