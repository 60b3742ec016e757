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
  Rounding rounding;

  LONGHAUL_HOST_DEVICE float operator()(std::int64_t row, std::int64_t column) const {
    const std::int64_t at = row * stride + column;
    return rounded(less ? rows[at] - less[at] : rows[at], rounding);
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
    const float value = from(0, column);
    if (from.rounding == Rounding::kNone)
      static_cast<float*>(to)[column] = value;
    else
      static_cast<std::uint16_t*>(to)[column] =
          from.rounding == Rounding::kBf16 ? to_bf16(value) : to_fp16(value);
  }
};

// mean [columns] of packed rows that lie one after the other, in their order.
struct MeanOfPacked {
  const char* rows;
  std::int64_t stride;  // bytes
  std::int64_t count;
  Rounding rounding;
  float* mean;

  LONGHAUL_HOST_DEVICE float read(std::int64_t row, std::int64_t column) const {
    const char* at = rows + row * stride;
    if (rounding == Rounding::kNone) return reinterpret_cast<const float*>(at)[column];
    const std::uint16_t bits = reinterpret_cast<const std::uint16_t*>(at)[column];
    return rounding == Rounding::kBf16 ? from_bf16(bits) : from_fp16(bits);
  }

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t, std::int64_t column) const {
    float total = read(0, column);
    for (std::int64_t row = 1; row < count; ++row) total += read(row, column);
    mean[column] = total / static_cast<float>(count);
  }
};

// Each row becomes the mean.
struct TakeMean {
  float* rows;
  std::int64_t stride;
  const float* mean;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t row, std::int64_t column) const {
    rows[row * stride + column] = mean[column];
  }
};

// The outer step of each row.
template <typename Step>
struct StepWithMeans {
  float *theta, *phi, *momentum;
  std::int64_t stride;
  Rounding rounding;
  const float *mean_delta, *mean_phi;  // [columns]
  Step step;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t row, std::int64_t column) const {
    const std::int64_t at = row * stride + column;
    step(theta[at], phi[at], momentum[at], mean_delta[column], mean_phi[column], rounded(phi[at], rounding));
  }
};

}  // namespace longhaul
