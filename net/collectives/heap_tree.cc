// All-reduce over an unpipelined binary tree in the shape of a heap: the members are its nodes, and member i
// receives from 2i + 1 and 2i + 2, over one access link where the topology has such.
//
// Up: a member whose children's vectors have arrived adds them to its own and sends B to (i − 1) / 2; down
// the same backwards. A member sends B up and B down for each child. The tree has D = floor(log2 n) levels of
// links: with a message time of t on links of their own 2 · D · t.
// Idle star: 2 · D · (latency + 2 · B / rate), exact for n = 3, 7, 15, … where every node has two children or
// none, otherwise an upper bound (n = 2: 2 · (latency + B / rate)).
//
// In S slices of s bytes the tree is pipelined: 2D · latency + (2D + S − 1) · w · s / rate, where w
// connections share a direction of a link (w = n − 1 for n = 2 and 3, else 3: two children and a parent).
// Exact for n = 2 and 3, otherwise an upper bound, by the proof in tree.cc.
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

class HeapTree : public Collective {
 public:
  HeapTree()
      : Collective(
            "heap-tree",
            "all-reduce over an unpipelined binary tree with the members as its nodes: both children send to "
            "their parent over its one link",
            Unit::kVector, Shape::kTree) {}
  // Children up; to the parent and back; children down.
  int rounds(const GroupExchange&) const override { return 3; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    Round round;
    if (index != 1)
      for (const int child : {2 * member + 1, 2 * member + 2})
        if (child < exchange.members)
          add_message(index == 0 ? round.receives : round.sends, child, 0, exchange.bytes, index == 0);
    if (index == 1 && member > 0) {
      add_message(round.sends, (member - 1) / 2, 0, exchange.bytes, true);
      add_message(round.receives, (member - 1) / 2, 0, exchange.bytes, false);
    }
    return round;
  }

 private:
  // Everybody but the root sends up once and gets the result once.
  std::int64_t vectors(const GroupExchange& exchange) const override { return 2 * (exchange.members - 1); }
};

}  // namespace

const MakeCollective make_heap_tree = make_collective<HeapTree>;

}  // namespace longhaul
