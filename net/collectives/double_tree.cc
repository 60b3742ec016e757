// Pipelined double binary tree all-reduce (Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth
// broadcast, reduction and scan", Parallel Computing 35, 2009).
//
// Two binary trees over all members, each for one half of the vector. In the first the members with an odd
// number are inner nodes; the second is the same tree moved on by one member, so that every member is an
// inner node in at most one of them. A half is cut into C chunks of at most 512 KiB (a step of NCCL's
// buffers), but at most 256; as in NCCL a small vector is cut further, here into 8 chunks for each of
// ceil(log2 n) levels as long as they have 64 KiB. A chunk goes up as soon as both children's have arrived
// and been added. The root sends down when its whole half is complete, and from there on a chunk goes down as
// soon as it has arrived. With n = 3 it sends each chunk down at once.
//
// Why the root waits: an inner node has two connections each way while sums go up (in: two children; out: its
// parent and its parent as a leaf of the other tree), and two while results come down. Each of the phases
// then fills the links with B, which is the least for 2 · B. A root that turns chunks round at once mixes the
// two: the four connections share the links evenly, but not everybody has four, so that some wait while their
// links idle. That took 2.4 to 2.7 · B / rate (but 1.5 with n = 3, where it stays).
//
// A member sends up to 2 · B (up once and down twice as an inner node, up once as a leaf, B/2 each).
// Idle star, an upper bound for n > 2, with D levels of links in a tree (about log2 n) and chunks of c bytes:
// 2D · latency + 4 · (D + C − 1) · c / rate + (D − 1) · (latency / 2 + c / rate), which is 2 · B / rate, 5 ·
// (D − 1) · c / rate for the filling of the pipelines, and latencies. n = 2, exact: 2 · latency + B / rate.
//
// "double-tree-8" and "double-tree-16" are the same with at most so many chunks: of few pieces a replay is
// cheap, and what it takes is nearly A + b / C, so that two of them tell the time of C chunks.
//
// Proof. (1) Up: at most two connections share a direction of a link, so that max-min fairness gives each at
// least rate/2, and a connection carries its chunks in their order. So without anything going down chunk i is
// h levels up after at most h · latency + (h + i) · 2c / rate, and all are at the roots after U = D · latency
// + (D + C − 1) · 2c / rate. (2) No root begins before latency + B / rate: in each tree some node has two
// children (n > 2), whose B comes over its one link. That is at most (D − 1) · (latency + 2c / rate) before
// U. (3) If one root begins earlier than the other, a third connection shares links with what still goes up:
// at most two going down from a member, or one to it. What takes rate/2 may take rate/3, half as long again,
// so that all are up after U + (D − 1) · (latency / 2 + c / rate). (4) Down: from then on at most two
// connections share a direction (to two children, from two parents), and chunk i is h levels down after h ·
// latency + (h + i) · 2c / rate more. n = 3: a member has two peers, so that each connection has rate/2; the
// C chunks that go up on it are handed over at once and before the C that go down.
#include <algorithm>

#include "net/collectives/collective.h"

namespace longhaul {
namespace {

constexpr std::int64_t kChunkBytes = 1 << 19;
constexpr std::int64_t kSmallestChunkBytes = 1 << 16, kChunksPerLevel = 8;
constexpr int kMostChunks = 256, kFewChunks = 8, kSomeChunks = 16;

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

// Member `member` in tree 0 or 1; tree 1 has everyone in the place of its predecessor.
Place member_place(int member, int n, int tree) {
  Place place = place_of((member + n - tree) % n, n);
  if (place.parent >= 0) place.parent = (place.parent + tree) % n;
  for (int& child : place.children) child = (child + tree) % n;
  return place;
}

class DoubleTree : public Collective {
 public:
  // With at most so many chunks.
  DoubleTree(const std::string& name, int most_chunks, Purpose purpose)
      : Collective(name,
                   "all-reduce over two complementary binary trees, each with half of the vector in chunks, "
                   "pipelined: up first, then down",
                   Unit::kNone, Shape::kOther, purpose),
        most_chunks_(most_chunks) {}
  int pieces(const GroupExchange& exchange) const override { return chunks(exchange); }
  std::vector<CoarseForm> coarse_forms() const override {
    if (most_chunks_ < kMostChunks) return {};
    return {{"double-tree-8", kFewChunks}, {"double-tree-16", kSomeChunks}};
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

 private:
  // Eight for each level of the tree fill its pipeline, as far as they are not too small.
  int chunks(const GroupExchange& exchange) const {
    const std::int64_t half = (exchange.bytes + 1) / 2;
    const std::int64_t filling = std::min<std::int64_t>(kChunksPerLevel * ceil_log2(exchange.members),
                                                        largest_part(half, kSmallestChunkBytes));
    const std::int64_t wanted = std::max(largest_part(half, kChunkBytes), filling);
    return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, most_chunks_));
  }

  // Chunk `index` of the half that `tree` carries.
  void add_chunk(std::vector<Message>& messages, const GroupExchange& exchange, int peer, int tree, int index,
                 bool reduces) const {
    const std::int64_t begin = part_begin(exchange.bytes, tree, 2);
    const std::int64_t half = part_begin(exchange.bytes, tree + 1, 2) - begin;
    const int count = chunks(exchange);
    add_message(messages, peer, begin + part_begin(half, index, count),
                begin + part_begin(half, index + 1, count), reduces);
  }

  void send_all_up(Round& round, const GroupExchange& exchange, int parent, int tree) const {
    for (int index = 0; index < chunks(exchange); ++index)
      add_chunk(round.sends, exchange, parent, tree, index, true);
  }

  // After its chunk `index` is complete: all of them after the last one. Three members have two peers each,
  // so that nothing is won by waiting for that.
  void send_down_from_root(Round& round, const GroupExchange& exchange, const Place& place, int tree,
                           int index) const {
    const int last = chunks(exchange) - 1;
    const bool turns_at_once = exchange.members <= 3;
    if (!turns_at_once && index < last) return;
    for (int chunk = turns_at_once ? index : 0; chunk <= index; ++chunk)
      for (const int child : place.children) add_chunk(round.sends, exchange, child, tree, chunk, false);
  }

  const int most_chunks_;
};

}  // namespace

const MakeCollective make_double_tree = []() -> std::unique_ptr<Collective> {
  return std::make_unique<DoubleTree>("double-tree", kMostChunks, Collective::Purpose::kAllReduce);
};
const MakeCollective make_double_tree_8 = []() -> std::unique_ptr<Collective> {
  return std::make_unique<DoubleTree>("double-tree-8", kFewChunks, Collective::Purpose::kEstimate);
};
const MakeCollective make_double_tree_16 = []() -> std::unique_ptr<Collective> {
  return std::make_unique<DoubleTree>("double-tree-16", kSomeChunks, Collective::Purpose::kEstimate);
};

}  // namespace longhaul
