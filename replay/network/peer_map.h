// A number for each peer that one replica deals with. A ring has one peer and an all-to-all all of them: a
// few are searched in order, many lie by the number of the peer. Cheaper than a hash table in both cases, and
// nothing depends on an order of hashes.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/base/index.h"

namespace longhaul {

class PeerMap {
 public:
  explicit PeerMap(int initial = 0) : initial_(initial) {}

  // The peer's number, `initial` if it is new. Valid until the next call.
  int& operator[](int peer) {
    if (many_.empty()) {
      for (auto& [known, number] : few_)
        if (known == peer) return number;
      if (few_.size() < kFew) return few_.emplace_back(peer, initial_).second;
      for (const auto& [known, number] : few_) at(known) = number;
      few_ = {};
    }
    return at(peer);
  }

 private:
  static constexpr std::size_t kFew = 16;

  int& at(int peer) {
    const auto place = as_index(peer);
    if (place >= many_.size()) many_.resize(place + 1, initial_);
    return many_[place];
  }

  int initial_;
  std::vector<std::pair<int, int>> few_;
  std::vector<int> many_;  // by peer; empty while there are few
};

}  // namespace longhaul
