// Unpipelined binary tree: reduce, then broadcast, of the whole vector. The all-reduce that the NoLoCo paper
// (arXiv 2506.10911) compares with: 2 · t_c · log2 N.
//
// The replicas are the leaves; an inner node lives at the host of its left child, so that a level costs one
// message over the network: in level l member m with m mod 2^(l+1) = 2^l sends to m − 2^l, and gets the
// result back from it. Unpipelined: a member begins a level when its messages of the one before have arrived
// (the receipt's way back is not modelled). Member m sends B once up, and B down for each child. Idle star: 2
// · ceil(log2 n) · (latency + B / rate), exact for n a power of two, else an upper bound.
//
// In S slices of s bytes the tree is pipelined and no member waits for its messages to be delivered. Idle
// star, an upper bound, with D = ceil(log2 n): 2D · latency + (2D + S − 1) · D · s / rate; exact for n = 2.
// Proof: at most D connections share a direction of a link (member 0 has D children; one at level l > 0 has l
// of them and a parent), so that max-min fairness gives each at least rate/D; a connection carries one
// message a slice, in the order of the slices. So a slice is h levels further after at most h · latency + (h
// + k) · D s / rate.
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

class Tree : public Collective {
 public:
  Tree()
      : Collective(
            "tree",
            "all-reduce over an unpipelined binary tree of whole vectors, as in the NoLoCo paper: 2 log2(n) "
            "messages in series",
            Unit::kVector, Shape::kTree) {}
  int rounds(const GroupExchange& exchange) const override { return 2 * ceil_log2(exchange.members); }
  bool awaits_delivery() const override { return true; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const int levels = ceil_log2(exchange.members);
    const bool reduces = index < levels;
    const int level = reduces ? index : 2 * levels - 1 - index;
    const int distance = 1 << level, place = member % (2 * distance);
    Round round;
    if (place == distance) {
      add_message(reduces ? round.sends : round.receives, member - distance, 0, exchange.bytes, reduces);
    } else if (place == 0 && member + distance < exchange.members) {
      add_message(reduces ? round.receives : round.sends, member + distance, 0, exchange.bytes, reduces);
    }
    return round;
  }

 private:
  // Everybody but member 0 sends up once and gets the result once.
  std::int64_t vectors(const GroupExchange& exchange) const override { return 2 * (exchange.members - 1); }
};

}  // namespace

const MakeCollective make_tree = make_collective<Tree>;

}  // namespace longhaul
