// Recursive halving (reduce-scatter), then recursive doubling (all-gather); Rabenseifner's all-reduce.
//
// Let p = 2^floor(log2 n). The n − p surplus members send their vector to member m − p first and get the
// result from it at the end. Among the p, in round j of log2 p member m exchanges with m xor (p / 2^(j+1))
// the half of its part that the other keeps, and the same way back. A core member sends 2(p−1)/p · B, and B
// more if it serves a surplus one, which itself sends B. Idle star, exact: 2 · log2(p) · latency + 2(p−1)/p ·
// B/rate, and 2 · (latency + B/rate) more if n is not p. Rounds are blocking send-receives, as in MPI:
// otherwise members without a surplus one would send halves to a member that is still receiving a whole
// vector, and both would take longer (up to 1.9 times the closed form for n = 3 … 33).
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

// The part of the vector that `member` of p = 2^levels holds after `depth` halvings: chunks [begin, end) of
// p.
struct Part {
  int begin, end;
};

Part part_at(int member, int levels, int depth) {
  const int width = 1 << (levels - depth);
  const int begin = member / width * width;
  return {begin, begin + width};
}

class HalvingDoubling : public Collective {
 public:
  HalvingDoubling()
      : Collective("halving-doubling",
                   "all-reduce by recursive halving and doubling: 2 log2(n) rounds and least bytes when n is "
                   "a power of two") {}
  int rounds(const GroupExchange& exchange) const override {
    return 2 * floor_log2(exchange.members) + 2 * has_surplus(exchange);
  }

  bool awaits_delivery() const override { return true; }
  bool awaits_receiver() const override { return true; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const int levels = floor_log2(exchange.members), core = 1 << levels;
    if (has_surplus(exchange)) {
      if (index == 0 || index == rounds(exchange) - 1) return fold(exchange, member, index == 0);
      --index;
    }
    if (member >= core) return {};
    const bool reduces = index < levels;
    const int depth = reduces ? index : 2 * levels - 1 - index;
    const int peer = member ^ (core >> (depth + 1));
    const Part mine = part_at(member, levels, depth + 1), theirs = part_at(peer, levels, depth + 1);
    Round round;
    add_part(round.sends, exchange, peer, reduces ? theirs : mine, core, reduces);
    add_part(round.receives, exchange, peer, reduces ? mine : theirs, core, reduces);
    return round;
  }

 private:
  static bool has_surplus(const GroupExchange& exchange) {
    return exchange.members != 1 << floor_log2(exchange.members);
  }

  // A surplus member's vector on its way in, or the result on its way back.
  static Round fold(const GroupExchange& exchange, int member, bool in) {
    const int core = 1 << floor_log2(exchange.members);
    Round round;
    if (member >= core) add_message(in ? round.sends : round.receives, member - core, 0, exchange.bytes, in);
    if (member + core < exchange.members)
      add_message(in ? round.receives : round.sends, member + core, 0, exchange.bytes, in);
    return round;
  }

  static void add_part(std::vector<Message>& messages, const GroupExchange& exchange, int peer, Part part,
                       int core, bool reduces) {
    add_message(messages, peer, part_begin(exchange.bytes, part.begin, core),
                part_begin(exchange.bytes, part.end, core), reduces);
  }
};

}  // namespace

const MakeCollective make_halving_doubling = make_collective<HalvingDoubling>;

}  // namespace longhaul
