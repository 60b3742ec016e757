// A map that is walked in the order in which its keys came, as files have their tests and streams.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace longhaul::measured {

template <typename Key, typename Value>
class InOrder {
 public:
  // The value of `key`, which is made where it does not exist. The place of a key is that of its first use.
  Value& operator[](const Key& key) {
    const auto [found, is_new] = places_.emplace(key, entries_.size());
    if (is_new) entries_.emplace_back(key, Value());
    return entries_[found->second].second;
  }

  const Value* find(const Key& key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? nullptr : &entries_[found->second].second;
  }

  bool contains(const Key& key) const { return places_.count(key) > 0; }
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  std::vector<Value> values() const {
    std::vector<Value> all;
    for (const auto& entry : entries_) all.push_back(entry.second);
    return all;
  }

  void clear() {
    entries_.clear();
    places_.clear();
  }

 private:
  std::vector<std::pair<Key, Value>> entries_;
  std::map<Key, std::size_t> places_;
};

}  // namespace longhaul::measured
