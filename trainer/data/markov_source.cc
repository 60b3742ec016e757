#include "trainer/data/markov_source.h"

#include <cmath>
#include <numeric>
#include <string_view>

#include "core/base/hash.h"
#include "core/base/index.h"
#include "core/base/random.h"

namespace longhaul {
namespace {

// Stream numbers (the `step` of a random stream).
constexpr std::uint32_t kTable = 0, kText = 1;

}  // namespace

MarkovSource::MarkovSource(int vocabulary, int branching, std::uint64_t seed)
    : vocabulary_(vocabulary), branching_(branching), seed_(seed) {
  RandomStream stream(seed, Purpose::kSyntheticSource, 0, kTable);
  std::vector<Token> others(as_index(vocabulary));
  std::iota(others.begin(), others.end(), Token{0});
  for (int token = 0; token < vocabulary; ++token) {
    double sum = 0;
    for (int k = 0; k < branching; ++k) {
      // A partial shuffle whose first place is taken by the cycle's next token.
      const auto at = as_index(k);
      std::size_t chosen = at + as_index(stream.below(others.size() - at));
      if (k == 0) {
        chosen = 0;
        while (others[chosen] != (token + 1) % vocabulary) ++chosen;
      }
      std::swap(others[at], others[chosen]);
      successors_.push_back(others[at]);
      probabilities_.push_back(-std::log1p(-stream.uniform()) + 1e-3);  // exponential: uniform on the simplex
      sum += probabilities_.back();
    }
    for (int k = 1; k <= branching; ++k) probabilities_[probabilities_.size() - as_index(k)] /= sum;
  }
}

std::vector<double> MarkovSource::stationary_distribution() const {
  std::vector<double> now(as_index(vocabulary_), 1. / vocabulary_), next(now.size());
  double change = 1;
  for (int round = 0; round < 100000 && change > 1e-13; ++round) {
    // Half a step stays where it is: the same fixed point, and a periodic chain converges too.
    for (std::size_t i = 0; i < now.size(); ++i) next[i] = now[i] / 2;
    for (std::size_t i = 0; i < successors_.size(); ++i)
      next[successors_[i]] += now[i / as_index(branching_)] * probabilities_[i] / 2;
    change = 0;
    for (std::size_t i = 0; i < now.size(); ++i) change += std::abs(next[i] - now[i]);
    now.swap(next);
  }
  return now;
}

double MarkovSource::entropy_rate() const {
  const std::vector<double> stationary = stationary_distribution();
  double entropy = 0;
  for (std::size_t i = 0; i < probabilities_.size(); ++i)
    entropy -= stationary[i / as_index(branching_)] * probabilities_[i] * std::log(probabilities_[i]);
  return entropy;
}

TokenText MarkovSource::text(std::int64_t tokens) const {
  RandomStream stream(seed_, Purpose::kSyntheticSource, 0, kText);
  TokenText text;
  Token token = 0;
  for (std::int64_t i = 0; i < tokens; ++i) {
    text.tokens.push_back(token);
    std::size_t at = as_index(token) * as_index(branching_);
    const std::size_t last = at + as_index(branching_) - 1;
    for (double rest = stream.uniform(); at < last && rest >= probabilities_[at]; ++at)
      rest -= probabilities_[at];
    token = successors_[at];
  }
  text.hash = fnv1a(std::string_view(reinterpret_cast<const char*>(text.tokens.data()),
                                     text.tokens.size() * sizeof(Token)));
  return text;
}

}  // namespace longhaul
