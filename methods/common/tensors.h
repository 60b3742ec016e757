// How many operations one average is. A training averages its model as one vector, or in an operation for
// each of its parameter tensors, one after another or all handed over at once, or in buckets of whole
// tensors. On a wide-area network each operation costs its round trips.
#pragma once

#include "methods/common/method.h"

namespace longhaul {

// The columns of each tensor. Each of several experts has its own. Of sizes: one behind another.
std::vector<ColumnRange> tensors_of_layout(const std::vector<Parameter>& layout);
std::vector<ColumnRange> tensors_of_sizes(const std::vector<std::int64_t>& sizes);

// `tensors`, beside `all_reduce`.
Node tensors_option();

// Gives the exchanges of a plan, with its stages, their operations as `tensors` says. Nothing for a method
// without the option. Throws InputError where the tensors are not known.
//
// Buckets are filled as torch 2.15 fills those of DDP (torch/csrc/distributed/c10d/reducer.cpp): from the
// last tensor of the model to the first, a bucket is closed by the tensor with which it has its size. "ddp":
// 1 MiB for the first bucket, 25 MiB for the others; a size, as an explicit bucket_cap_mb: the same for all.
// In its first iteration DDP reduces one bucket, at the end of the backward pass.
void split_by_tensors(const Json& options, const PlannedModel& model, OperationPlan& plan);

}  // namespace longhaul
