// Windows of the text: sequences of context + 1 tokens from uniformly drawn places, with replacement.
#pragma once

#include "trainer/data/dataset.h"
#include "trainer/model/decoder.h"

namespace longhaul {

// What replica `replica` trains on at `step`: a stream of its own for each, so that no replica draws what
// another draws and adding a replica changes nobody's data.
Batch training_batch(const std::vector<Token>& tokens, const TrainSpec& train, std::uint64_t seed,
                     int replica, int step);

// The sequences of every evaluation, `batch` at a time: the same for all replicas, steps and methods.
std::vector<Batch> validation_batches(const std::vector<Token>& tokens, const TrainSpec& train,
                                      std::uint64_t seed);

}  // namespace longhaul
