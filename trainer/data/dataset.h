// The text that a case trains on, cut into a training part and a held-out validation part at its end.
#pragma once

#include <optional>
#include <string>

#include "core/case.h"
#include "trainer/data/token_text.h"

namespace longhaul {

struct Dataset {
  std::vector<Token> training, validation;
  std::uint64_t hash = 0;                // of the whole text
  std::optional<double> source_entropy;  // nats per token; of synthetic data only
};

// Throws InputError for data that is not there or too short for one sequence in each part.
Dataset load_dataset(const Case& one);

// −Σ p log p over the tokens' frequencies, nats: the loss of the best model that does not look at the
// context.
double unigram_entropy(const std::vector<Token>& tokens);

}  // namespace longhaul
