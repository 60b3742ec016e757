#include "trainer/data/copied_stretches.h"

#include <algorithm>
#include <cstdint>

namespace longhaul {
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
