// A synthetic text with a known best loss: a first-order Markov chain over the vocabulary. Each token has
// `branching` successors with random probabilities; the first is always the next token of a cycle through
// all, so that every token is reached from every other and the stationary distribution is unique.
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/data/token_text.h"

namespace longhaul {

class MarkovSource {
 public:
  // Successors and probabilities come from the seed (Purpose::kSyntheticSource). branching ≤ vocabulary ≤
  // 65536.
  MarkovSource(int vocabulary, int branching, std::uint64_t seed);

  // Σ_i π_i H(p_i) in nats, π the stationary distribution: what no model's expected loss can be below.
  double entropy_rate() const;
  TokenText text(std::int64_t tokens) const;

 private:
  std::vector<double> stationary_distribution() const;

  int vocabulary_, branching_;
  std::uint64_t seed_;
  std::vector<Token> successors_;      // [vocabulary, branching], distinct in each row
  std::vector<double> probabilities_;  // [vocabulary, branching]
};

}  // namespace longhaul
