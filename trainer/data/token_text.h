// A text as tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/hash.h"
#include "core/scenario/training_text.h"

namespace longhaul {

using Token = std::uint16_t;

struct TokenText {
  std::vector<Token> tokens;
  std::uint64_t hash = 0;  // FNV-1a of its bytes as they stand in the files
};

// Text files as byte tokens.

// The bytes of the files, one after the other. The hash continues `hash`, that of what was read before.
// Throws RunError for a file that cannot be read.
TokenText read_bytes(const std::vector<std::string>& files, std::uint64_t hash = kFnvOffset);

// Token shards (core/scenario/training_text.h).

// The tokens of all shards, one after the other. The hash continues `hash`, that of what was read before.
// Throws InputError (`path`) that names the file for a wrong magic or version, a file shorter than its header
// says, or a token outside the vocabulary.
TokenText read_token_shards(const std::vector<std::string>& files, int vocabulary,
                            const std::string& path = "train.data.shards", std::uint64_t hash = kFnvOffset);

// A synthetic text with a known best loss: a first-order Markov chain over the vocabulary. Each token has
// `branching` successors with random probabilities; the first is always the next token of a cycle through
// all, so that every token is reached from every other and the stationary distribution is unique.
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

// What the held-out part of a text has in common with the training part. A model can recite that, so a loss
// on it says little about text that it has not seen: licences, generated code, files that exist twice.

// The shortest stretch that counts as copied: about a line of prose or two of code.
constexpr std::size_t kCopiedStretch = 65;  // tokens

// For each token of `held_out` whether it lies in a stretch of at least kCopiedStretch tokens that stands in
// `training` word for word. Time and memory are linear in both (4 bytes a held-out token and an index of 16).
std::vector<bool> copied_tokens(const std::vector<Token>& training, const std::vector<Token>& held_out);

// Takes these tokens out of `held_out`; returns how many.
std::size_t remove_copied_stretches(const std::vector<Token>& training, std::vector<Token>& held_out);

}  // namespace longhaul
