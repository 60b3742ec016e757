// The methods' steps where the rows of a group lie on the GPUs of several ranks, a part of the columns at a
// time: what a row contributes, sums in the order of the replicas, and a replica's step with means that are
// known. Rounding and order are those of outer_rows.h, whose groups lie in one memory; so are the bits.
#pragma once

#include <cstdint>

#include "trainer/cuda/outer_rows.h"

namespace longhaul {

// Rows of the replicas that are held here, from the first one and the first column of the part.
struct ContributedRows {
  const float* rows;
  const float* less;  // contributed is the distance from these; null: the rows
  std::int64_t stride;
  Wire wire;

  LONGHAUL_HOST_DEVICE float operator()(std::int64_t row, std::int64_t column) const {
    const std::int64_t at = row * stride + column;
    return as_sent(less ? rows[at] - less[at] : rows[at], wire);
  }
};

// sum [columns] += what all `count` rows contribute; the first row of the first rank stands there as it is.
struct AddRows {
  ContributedRows from;
  std::int64_t count;
  bool is_first;
  float divisor;  // of the sum; 1 where others are still to come
  float* sum;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t, std::int64_t column) const {
    float total = is_first ? from(0, column) : sum[column] + from(0, column);
    for (std::int64_t row = 1; row < count; ++row) total += from(row, column);
    sum[column] = total / divisor;
  }
};

// What one row contributes, in the format that it travels in.
struct PackRow {
  ContributedRows from;
  void* to;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t, std::int64_t column) const {
    RoundedColumns<1>::write(Pack<1>{{from(0, column)}}, to, column, from.wire);
  }
};

// mean [columns] of packed rows that lie one after the other, in their order.
struct MeanOfPacked {
  const char* rows;
  std::int64_t stride;  // bytes
  std::int64_t count;
  Wire wire;
  float* mean;

  LONGHAUL_HOST_DEVICE float read(std::int64_t row, std::int64_t column) const {
    return RoundedColumns<1>::read(rows + row * stride, column, wire).at[0];
  }

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t, std::int64_t column) const {
    float total = read(0, column);
    for (std::int64_t row = 1; row < count; ++row) total += read(row, column);
    mean[column] = total / static_cast<float>(count);
  }
};

// A row becomes the mean.
struct TakeMean {
  float* row;
  const float* mean;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t, std::int64_t column) const {
    row[column] = mean[column];
  }
};

// The outer step of a row.
template <typename Step>
struct StepWithMeans {
  float *theta, *phi, *momentum;
  Wire wire;
  const float *mean_delta, *mean_phi;  // [columns]
  Step step;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t, std::int64_t at) const {
    step(theta[at], phi[at], momentum[at], mean_delta[at], mean_phi[at], as_sent(phi[at], wire));
  }
};

}  // namespace longhaul
