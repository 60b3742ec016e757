// The text that a case trains on, cut into a training part and a held-out validation part: the end of the
// text, or files of their own (train.data.validation, corpus.h). What a corpus holds out has nothing in
// common with what is trained on (token_text.h); of a user's own text both parts are taken as they are.
#pragma once

#include <optional>
#include <string>

#include "core/scenario/case.h"
#include "trainer/data/token_text.h"
#include "trainer/model/decoder.h"

namespace longhaul {

struct Dataset {
  std::vector<Token> training, validation;
  std::uint64_t hash = 0;                // of the whole text
  std::size_t copied_tokens = 0;         // taken out of the held-out part, because the training part has them
  std::optional<double> source_entropy;  // nats per token; of synthetic data only
};

// Throws InputError for data that is not there or too short for one sequence in each part.
Dataset load_dataset(const Case& config);

// −Σ p log p over the tokens' frequencies, nats: the loss of the best model that does not look at the
// context.
double unigram_entropy(const std::vector<Token>& tokens);

// Windows of the text: sequences of context + 1 tokens. Training draws their places uniformly, with
// replacement; validation takes fixed ones, because a sample drawn from the seed would make each seed be
// validated on other text, and most of what differs between seeds would be the sample.

// What replica `replica` trains on at `step`: a stream of its own for each, so that no replica draws what
// another draws and adding a replica does not change the others' data.
Batch training_batch(const std::vector<Token>& tokens, const TrainSpec& train, std::uint64_t seed,
                     int replica, int step);

// A fixed number: neither the batch of the training nor the number of threads changes the sums.
constexpr int kValidationBatch = 8;

// Where the windows of an evaluation begin in a held-out part of `tokens` tokens: the middles of `sequences`
// equal parts of all places; with 0 one window after the other, so that each token but the first is predicted
// once, up to a last piece shorter than a window.
std::vector<std::size_t> validation_starts(std::size_t tokens, int context, int sequences);

// The sequences of every evaluation, kValidationBatch at a time: the same for all replicas, steps, methods
// and seeds.
std::vector<Batch> validation_batches(const std::vector<Token>& tokens, const TrainSpec& train);

}  // namespace longhaul
