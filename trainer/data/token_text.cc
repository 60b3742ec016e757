#include "trainer/data/token_text.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string_view>

#include "core/base/errors.h"
#include "core/base/hash.h"
#include "core/base/index.h"
#include "core/base/random.h"

namespace longhaul {

TokenText read_bytes(const std::vector<std::string>& files, std::uint64_t hash) {
  TokenText text;
  text.hash = hash;
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (!in) throw RunError(file + ": cannot be read");
    text.hash = fnv1a(bytes, text.hash);
    for (const char byte : bytes) text.tokens.push_back(static_cast<unsigned char>(byte));
  }
  return text;
}

namespace {

void append_shard(const std::string& file, int vocabulary, const std::string& path, TokenText& text) {
  const std::size_t count = tokens_of_shard(file, path), start = text.tokens.size();
  text.tokens.resize(start + count);
  char* bytes = reinterpret_cast<char*>(text.tokens.data() + start);
  std::ifstream in(file, std::ios::binary);
  if (!in.seekg(4 * kShardHeader).read(bytes, static_cast<std::streamsize>(count * sizeof(Token))))
    throw RunError(file + ": cannot be read");
  text.hash = fnv1a(std::string_view(bytes, count * sizeof(Token)), text.hash);
  for (std::size_t i = start; i < text.tokens.size(); ++i)
    if (text.tokens[i] >= vocabulary)
      throw InputError(
          {"", path,
           file + " has token " + std::to_string(text.tokens[i]) + " at " + std::to_string(i - start),
           "tokens below train.model.vocabulary, " + std::to_string(vocabulary),
           "raise the vocabulary to the tokenizer's"});
}

}  // namespace

TokenText read_token_shards(const std::vector<std::string>& files, int vocabulary, const std::string& path,
                            std::uint64_t hash) {
  TokenText text;
  text.hash = hash;
  for (const std::string& file : files) append_shard(file, vocabulary, path, text);
  return text;
}

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

namespace {

// The hash of every window of kCopiedStretch tokens, one after the other (Rabin and Karp, modulo 2^64). The
// polynomial's low bits are weak: take the high bits where a few are enough.
class RollingHash {
 public:
  explicit RollingHash(const std::vector<Token>& tokens) : tokens_(tokens) {
    for (std::size_t i = 0; i + 1 < kCopiedStretch; ++i) leaving_ *= kBase;
    for (std::size_t i = 0; i < kCopiedStretch; ++i) hash_ = hash_ * kBase + value(i);
  }

  std::uint64_t now() const { return hash_ * kMixer; }

  void step() {
    hash_ = (hash_ - leaving_ * value(at_)) * kBase + value(at_ + kCopiedStretch);
    ++at_;
  }

 private:
  static constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15, kMixer = 0xbf58476d1ce4e5b9;

  std::uint64_t value(std::size_t at) const { return tokens_[at] + 1u; }

  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
  std::uint64_t hash_ = 0, leaving_ = 1;
};

// The windows of the held-out part, by their hash. Most windows of the training part are not among them, so a
// bitmap that stays in the processor's cache is asked first.
class Windows {
 public:
  explicit Windows(const std::vector<Token>& tokens) : tokens_(tokens) {
    const std::size_t count = tokens.size() - kCopiedStretch + 1;
    while ((std::size_t{1} << bits_) < 2 * count) ++bits_;
    slots_.assign(std::size_t{1} << bits_, Slot());
    seen_.assign(std::size_t{1} << (bits_ + kSeenBits - 6), 0);
    RollingHash hash(tokens);
    for (std::size_t at = 0; at < count; ++at) {
      if (at > 0) hash.step();
      Slot& slot = find(hash.now());
      if (slot.first == kNone) slot = {hash.now(), static_cast<std::uint32_t>(at), false};
      const std::uint64_t bit = hash.now() >> (64 - bits_ - kSeenBits);
      seen_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
  }

  void mark_found(std::uint64_t hash, const Token* window) {
    const std::uint64_t bit = hash >> (64 - bits_ - kSeenBits);
    if (!(seen_[bit / 64] >> (bit % 64) & 1)) return;
    Slot& slot = find(hash);
    if (slot.first == kNone || slot.is_found) return;
    slot.is_found = std::equal(window, window + kCopiedStretch, tokens_.begin() + slot.first);
  }

  bool is_found(std::uint64_t hash) { return find(hash).is_found; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr int kSeenBits = 3;

  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t first = kNone;  // where such a window begins for the first time
    bool is_found = false;        // in the training part
  };

  Slot& find(std::uint64_t hash) {
    std::size_t at = hash >> (64 - bits_);
    while (slots_[at].first != kNone && slots_[at].hash != hash) at = (at + 1) % slots_.size();
    return slots_[at];
  }

  const std::vector<Token>& tokens_;
  int bits_ = 6;
  std::vector<Slot> slots_;
  std::vector<std::uint64_t> seen_;
};

}  // namespace

std::vector<bool> copied_tokens(const std::vector<Token>& training, const std::vector<Token>& held_out) {
  std::vector<bool> copied(held_out.size());
  if (training.size() < kCopiedStretch || held_out.size() < kCopiedStretch) return copied;
  Windows windows(held_out);
  RollingHash of_training(training);
  for (std::size_t at = 0;; of_training.step(), ++at) {
    windows.mark_found(of_training.now(), training.data() + at);
    if (at + kCopiedStretch == training.size()) break;
  }
  RollingHash hash(held_out);
  std::size_t copied_to = 0;
  for (std::size_t at = 0;; hash.step(), ++at) {
    if (windows.is_found(hash.now()))
      for (copied_to = std::max(copied_to, at); copied_to < at + kCopiedStretch; ++copied_to)
        copied[copied_to] = true;
    if (at + kCopiedStretch == held_out.size()) break;
  }
  return copied;
}

std::size_t remove_copied_stretches(const std::vector<Token>& training, std::vector<Token>& held_out) {
  const std::vector<bool> copied = copied_tokens(training, held_out);
  std::size_t kept = 0;
  for (std::size_t at = 0; at < held_out.size(); ++at)
    if (!copied[at]) held_out[kept++] = held_out[at];
  const std::size_t removed = held_out.size() - kept;
  held_out.resize(kept);
  return removed;
}

}  // namespace longhaul
