// Rows of a table that become known in another order than that of the table.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace longhaul {

// Rows that become known in the order of the simulation and are written in the order of their table: by block
// (a step, or one rule's exchange of a step), then by replica. A block is written as soon as it is over, so
// that a run that is killed leaves what it had.
//
// Row has a member `replica`. Key is ordered as the table is.
template <typename Key, typename Row>
class OrderedRows {
 public:
  using Writer = std::function<void(const Key&, const Row&)>;

  explicit OrderedRows(Writer write) : write_(std::move(write)) {}

  void add(const Key& key, const Row& row) { blocks_[key].push_back(row); }

  // Null where it is not there, or written.
  Row* find(const Key& key, int replica) {
    const auto block = blocks_.find(key);
    if (block == blocks_.end()) return nullptr;
    const auto row = std::find_if(block->second.begin(), block->second.end(),
                                  [&](const Row& known) { return known.replica == replica; });
    return row == block->second.end() ? nullptr : &*row;
  }

  // No more rows come of blocks of which `is_over` says so; then it says so of all before them.
  template <typename IsOver>
  void close(const IsOver& is_over) {
    for (; !blocks_.empty() && is_over(blocks_.begin()->first); blocks_.erase(blocks_.begin())) {
      auto& [key, rows] = *blocks_.begin();
      std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.replica < b.replica; });
      for (const Row& row : rows) write_(key, row);
    }
  }

 private:
  Writer write_;
  std::map<Key, std::vector<Row>> blocks_;
};

}  // namespace longhaul
