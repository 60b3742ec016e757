// Rows that become known in the order of the simulation and are written in the order of their table: by block
// (a step, or one rule's exchange of a step), then by replica. A block is written as soon as it and all
// before it are complete, so that a run that is killed leaves what it had.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace longhaul {

// Row has a member `replica`. Key is ordered as the table is.
template <typename Key, typename Row>
class OrderedRows {
 public:
  using Writer = std::function<void(const Key&, const Row&)>;

  explicit OrderedRows(Writer write) : write_(std::move(write)) {}

  // Keys are opened in ascending order; each gets exactly `rows` rows.
  void open(const Key& key, std::size_t rows) {
    if (!blocks_.empty() && !(blocks_.rbegin()->first < key))
      throw std::logic_error("rows of a table are opened out of order");
    blocks_[key].expected = rows;
  }

  void add(const Key& key, const Row& row) {
    blocks_.at(key).rows.push_back(row);
    while (!blocks_.empty() && is_complete(blocks_.begin()->second)) write_first();
  }

 private:
  struct Block {
    std::size_t expected = 0;
    std::vector<Row> rows;
  };

  static bool is_complete(const Block& block) { return block.rows.size() == block.expected; }

  void write_first() {
    auto& [key, block] = *blocks_.begin();
    std::sort(block.rows.begin(), block.rows.end(),
              [](const Row& a, const Row& b) { return a.replica < b.replica; });
    for (const Row& row : block.rows) write_(key, row);
    blocks_.erase(blocks_.begin());
  }

  Writer write_;
  std::map<Key, Block> blocks_;
};

}  // namespace longhaul
