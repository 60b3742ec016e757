// The arena: all replicas live in row-major float32 tables [R, P], one table a slot. A row is one replica's
// model, gradient or state; layers take views into it, and a row is also the message that is exchanged, so
// that the bytes on the wire are exact.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace longhaul {

// What a table holds, by its name, which is also the one in checkpoints. Those that every replica has stand
// here, and those that several methods share; a method may declare others (trainer/operations/update.h).
struct Slot {
  const char* name;

  static const Slot kWeights, kGradient, kFirstMoment, kSecondMoment;  // of every replica
  static const Slot kSlowWeights, kOuterMomentum;                      // of an outer step
  static const Slot kError;                                            // of codecs with error feedback
  static const Slot kSentMean;                                         // of EF21: the mean of what was sent
  static const Slot kServerError;                                      // of Reduction::kServers
};

inline constexpr Slot Slot::kWeights{"weights"};
inline constexpr Slot Slot::kGradient{"gradient"};
inline constexpr Slot Slot::kFirstMoment{"first_moment"};
inline constexpr Slot Slot::kSecondMoment{"second_moment"};
inline constexpr Slot Slot::kSlowWeights{"slow_weights"};
inline constexpr Slot Slot::kOuterMomentum{"outer_momentum"};
inline constexpr Slot Slot::kError{"error"};
inline constexpr Slot Slot::kSentMean{"sent_mean"};
inline constexpr Slot Slot::kServerError{"server_error"};

inline bool operator==(Slot a, Slot b) {
  return a.name == b.name || std::strcmp(a.name, b.name) == 0;
}
inline bool operator!=(Slot a, Slot b) {
  return !(a == b);
}

// The tables of every replica, and those of these names behind them (core/plan/operations.h).
std::vector<Slot> slots_with(const std::vector<std::string>& names);
// A table by a name that need not stay.
Slot slot_named(const std::string& name);

// Replicas first … end - 1: what one of several processes holds (trainer/ranks/).
struct RowBlock {
  int first = 0, end = 0;

  int size() const { return end - first; }
  bool contains(int replica) const { return replica >= first && replica < end; }
  std::vector<int> replicas() const;  // ascending
};

class Arena {
 public:
  // All zero. Throws RunError where the machine has not the memory.
  Arena(std::vector<Slot> slots, int replicas, std::int64_t parameters);
  // The rows `held` of an arena of `replicas` that is spread over processes.
  Arena(std::vector<Slot> slots, int replicas, std::int64_t parameters, RowBlock held);

  int replicas() const { return replicas_; }  // R, of all processes together
  RowBlock held() const { return held_; }
  std::int64_t parameters() const { return parameters_; }
  const std::vector<Slot>& slots() const { return slots_; }
  bool has(Slot slot) const { return std::find(slots_.begin(), slots_.end(), slot) != slots_.end(); }
  std::size_t index_of(Slot slot) const;  // in slots(); throws std::logic_error where there is none
  std::int64_t bytes() const;             // 4 · slots · R · P, of all processes together

  // Of a replica that is held here; throws std::logic_error for another.
  float* row(Slot slot, int replica);
  const float* row(Slot slot, int replica) const { return const_cast<Arena*>(this)->row(slot, replica); }

  // From now on the table lies in a file in memory, at the same address: the descriptor that is returned is
  // the caller's, who maps it in another process. Throws RunError.
  int share(Slot slot);

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(float* table) const;
  };

  std::vector<Slot> slots_;
  int replicas_;
  RowBlock held_;
  std::int64_t parameters_;
  std::vector<std::unique_ptr<float[], Unmap>> tables_;
};

}  // namespace longhaul
