#include "net/collectives/double_tree.h"

#include <algorithm>
#include <cmath>

namespace longhaul {
namespace {

constexpr std::int64_t kChunkBytes = 1 << 19;
constexpr std::int64_t kSmallestChunkBytes = 1 << 16, kChunksPerLevel = 8;
constexpr std::int64_t kMostChunks = 256;

// A place in the first tree: an in-order binary tree over 0 … n − 1 with the odd numbers as inner nodes.
struct Place {
  int parent = -1;
  std::vector<int> children;
};

// The root of [begin, end): the odd place at or just above the middle; begin is even.
int root_of(int begin, int end) {
  const int size = end - begin;
  return size == 1 ? begin : begin + (size / 2 | 1);
}

Place place_of(int node, int n) {
  Place place;
  int begin = 0, end = n;
  for (int root = root_of(begin, end); root != node; root = root_of(begin, end)) {
    place.parent = root;
    (node < root ? end : begin) = node < root ? root : root + 1;
  }
  if (end - begin == 1) return place;
  place.children.push_back(root_of(begin, node));
  if (node + 1 < end) place.children.push_back(root_of(node + 1, end));
  return place;
}

int levels(int begin, int end) {
  if (end - begin <= 1) return 0;
  const int root = root_of(begin, end);
  return 1 + std::max(levels(begin, root), levels(root + 1, end));
}

// Member `member` in tree 0 or 1; tree 1 has everyone in the place of its predecessor.
Place member_place(int member, int n, int tree) {
  Place place = place_of((member + n - tree) % n, n);
  if (place.parent >= 0) place.parent = (place.parent + tree) % n;
  for (int& child : place.children) child = (child + tree) % n;
  return place;
}

// Eight for each level of the tree fill its pipeline, as far as they are not too small.
int chunks(const GroupExchange& exchange) {
  const std::int64_t half = (exchange.bytes + 1) / 2;
  const std::int64_t filling = std::min<std::int64_t>(kChunksPerLevel * ceil_log2(exchange.members),
                                                      largest_part(half, kSmallestChunkBytes));
  const std::int64_t wanted = std::max(largest_part(half, kChunkBytes), filling);
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, kMostChunks));
}

// Chunk `index` of the half that `tree` carries.
void add_chunk(std::vector<Message>& messages, const GroupExchange& exchange, int peer, int tree, int index,
               bool reduces) {
  const std::int64_t begin = part_begin(exchange.bytes, tree, 2);
  const std::int64_t half = part_begin(exchange.bytes, tree + 1, 2) - begin;
  const int count = chunks(exchange);
  add_message(messages, peer, begin + part_begin(half, index, count),
              begin + part_begin(half, index + 1, count), reduces);
}

class DoubleTree : public Collective {
 public:
  std::string name() const override { return "double-tree"; }
  std::string about() const override {
    return "all-reduce over two complementary binary trees, each with half of the vector in chunks, "
           "pipelined: up first, then down";
  }
  // C rounds in which chunks come up in the member's own tree, C in which they come down in it, C in which
  // they come down in the other one, where the member is a leaf. In this order no member waits for another
  // in a circle.
  int rounds(const GroupExchange& exchange) const override { return 3 * chunks(exchange); }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const int n = exchange.members, count = chunks(exchange);
    const int own = member_place(member, n, 1).children.empty() ? 0 : 1;
    const Place place = member_place(member, n, own), leaf = member_place(member, n, 1 - own);
    Round round;
    if (index == 0) {
      if (place.children.empty()) send_all_up(round, exchange, place.parent, own);
      send_all_up(round, exchange, leaf.parent, 1 - own);
    }
    if (index >= 1 && index <= count && !place.children.empty()) {
      if (place.parent >= 0)
        add_chunk(round.sends, exchange, place.parent, own, index - 1, true);
      else
        send_down_from_root(round, exchange, place, own, index - 1);
    }
    if (index > count && index <= 2 * count && place.parent >= 0)
      for (const int child : place.children)
        add_chunk(round.sends, exchange, child, own, index - count - 1, false);
    if (index < count)
      for (const int child : place.children) add_chunk(round.receives, exchange, child, own, index, true);
    else if (index >= 2 * count)
      add_chunk(round.receives, exchange, leaf.parent, 1 - own, index - 2 * count, false);
    else if (place.parent >= 0)
      add_chunk(round.receives, exchange, place.parent, own, index - count, false);
    return round;
  }

  // Every chunk that is not empty crosses each of the n − 1 links of its tree up and down.
  Totals totals(const GroupExchange& exchange) const override {
    const std::int64_t others = exchange.members - 1, count = chunks(exchange);
    const std::int64_t first = part_begin(exchange.bytes, 1, 2);
    const std::int64_t parts = std::min(first, count) + std::min(exchange.bytes - first, count);
    return {2 * others * parts, 2 * others * exchange.bytes};
  }

  double idle_star_s(const GroupExchange& exchange, double latency_s, double bytes_per_s) const override {
    const int depth = levels(0, exchange.members), count = chunks(exchange);
    const double chunk = std::ceil(static_cast<double>((exchange.bytes + 1) / 2) / count);
    const double chunk_s = chunk / bytes_per_s;
    if (exchange.members == 2) return 2 * (latency_s + count * chunk_s);
    const double one_way_s = depth * latency_s + 2 * (depth + count - 1) * chunk_s;
    return 2 * one_way_s + (depth - 1) * (latency_s / 2 + chunk_s);
  }

 private:
  static void send_all_up(Round& round, const GroupExchange& exchange, int parent, int tree) {
    for (int index = 0; index < chunks(exchange); ++index)
      add_chunk(round.sends, exchange, parent, tree, index, true);
  }

  // After its chunk `index` is complete: all of them after the last one. Three members have two peers each,
  // so that nothing is won by waiting for that.
  static void send_down_from_root(Round& round, const GroupExchange& exchange, const Place& place, int tree,
                                  int index) {
    const int last = chunks(exchange) - 1;
    const bool turns_at_once = exchange.members <= 3;
    if (!turns_at_once && index < last) return;
    for (int chunk = turns_at_once ? index : 0; chunk <= index; ++chunk)
      for (const int child : place.children) add_chunk(round.sends, exchange, child, tree, chunk, false);
  }
};

}  // namespace

std::unique_ptr<Collective> make_double_tree() {
  return std::make_unique<DoubleTree>();
}

}  // namespace longhaul
