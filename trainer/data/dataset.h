// The text that a case trains on, cut into a training part and a held-out validation part: the end of the
// text, or files of their own (train.data.validation, corpus.h). What a corpus holds out has nothing in
// common with what is trained on (copied_stretches.h); of a user's own text both parts are taken as they are.
#pragma once

#include <optional>
#include <string>

#include "core/case.h"
#include "trainer/data/token_text.h"

namespace longhaul {

struct Dataset {
  std::vector<Token> training, validation;
  std::uint64_t hash = 0;                // of the whole text
  std::size_t copied_tokens = 0;         // taken out of the held-out part, because the training part has them
  std::optional<double> source_entropy;  // nats per token; of synthetic data only
};

// Throws InputError for data that is not there or too short for one sequence in each part.
Dataset load_dataset(const Case& one);

// −Σ p log p over the tokens' frequencies, nats: the loss of the best model that does not look at the
// context.
double unigram_entropy(const std::vector<Token>& tokens);

}  // namespace longhaul
