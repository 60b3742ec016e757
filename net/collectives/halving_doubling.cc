// Recursive halving (reduce-scatter), then recursive doubling (all-gather), as MPI libraries do it:
// Rabenseifner's all-reduce with distance doubling (Thakur, Rabenseifner, Gropp, "Optimization of collective
// communication operations in MPICH", 2005). And recursive doubling alone, which they use for small vectors.
//
// Let p = 2^floor(log2 n). The first 2(n − p) members are pairs of neighbours: 0 sends its vector to 1, 2 to
// 3 and so on, and gets the result from it at the end. The others and the odd ones of those, p in all, are
// numbered anew in their order (MPICH's fold). Among the p, in round j of log2 p member m exchanges with
// m xor 2^j the half of its part that the other keeps, and the same way back: half of the vector goes to the
// neighbour, a quarter to m xor 2, an eighth to m xor 4. Open MPI 4.1.4 and 5.0.11 and MPICH 5.0.2 do so
// (findings/halving-doubling-nearest.sh). "halving-doubling-far" begins with m xor p/2 (distance halving):
// half of the vector goes to the farthest rank.
//
// A core member sends 2(p−1)/p · B, and B more if it serves a surplus one, which itself sends B. Idle star,
// exact: 2 · log2(p) · latency + 2(p−1)/p · B/rate, and 2 · (latency + B/rate) more if n is not p; the order
// of partners changes nothing there. Recursive doubling exchanges the whole vector with m xor 2^j in each
// round: a core member sends log2(p) · B, in log2(p) · (latency + B/rate), and the same more if n is not p.
//
// Rounds are blocking send-receives, as in MPI: otherwise members without a surplus one would send halves to
// a member that is still receiving a whole vector, and both would take longer (up to 1.9 times the closed
// form for n = 3 … 33). Not modelled: Open MPI's halving folds odd into even in two halves of the vector
// (3 latencies instead of 2), and above 64 KiB each of its messages is a rendezvous of three flights.
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

// The members that are left once the surplus is folded in, numbered 0 … 2^levels − 1.
struct Core {
  int levels, size, surplus;

  explicit Core(int members) : levels(floor_log2(members)), size(1 << levels), surplus(members - size) {}
  bool folds(int member) const { return member < 2 * surplus && member % 2 == 0; }
  bool serves(int member) const { return member < 2 * surplus && member % 2 == 1; }
  int number_of(int member) const { return member < 2 * surplus ? member / 2 : member - surplus; }
  int member_of(int number) const { return number < surplus ? 2 * number + 1 : number + surplus; }
};

// Rounds among the core, between the rounds that fold the surplus in and give it the result.
class FoldedIn : public Collective {
 public:
  using Collective::Collective;

  int rounds(const GroupExchange& exchange) const override {
    const Core core(exchange.members);
    return core_rounds(core.levels) + (core.surplus > 0 ? 2 : 0);
  }

  bool awaits_delivery() const override { return true; }
  bool awaits_receiver() const override { return true; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const Core core(exchange.members);
    if (core.surplus > 0) {
      if (index == 0 || index == rounds(exchange) - 1) return fold(exchange, core, member, index == 0);
      --index;
    }
    return core.folds(member) ? Round{} : core_round(exchange, core, core.number_of(member), index);
  }

 private:
  virtual int core_rounds(int levels) const = 0;
  // Of the core's member `number`.
  virtual Round core_round(const GroupExchange& exchange, const Core& core, int number, int index) const = 0;

  // A surplus member's vector on its way in, or the result on its way back.
  static Round fold(const GroupExchange& exchange, const Core& core, int member, bool in) {
    Round round;
    if (core.folds(member)) add_message(in ? round.sends : round.receives, member + 1, 0, exchange.bytes, in);
    if (core.serves(member))
      add_message(in ? round.receives : round.sends, member - 1, 0, exchange.bytes, in);
    return round;
  }
};

class HalvingDoubling : public FoldedIn {
 public:
  HalvingDoubling(const std::string& name, const std::string& about, bool is_nearest_first)
      : FoldedIn(name, about), is_nearest_first_(is_nearest_first) {}

 private:
  struct Part {
    int begin, end;  // chunks of 2^levels
  };

  int core_rounds(int levels) const override { return 2 * levels; }

  Round core_round(const GroupExchange& exchange, const Core& core, int number, int index) const override {
    const bool reduces = index < core.levels;
    const int depth = reduces ? index : 2 * core.levels - 1 - index;
    const int peer = number ^ distance(core, depth);
    const Part mine = part_at(core, number, depth + 1), theirs = part_at(core, peer, depth + 1);
    Round round;
    const auto add = [&](std::vector<Message>& messages, Part part) {
      add_message(messages, core.member_of(peer), part_begin(exchange.bytes, part.begin, core.size),
                  part_begin(exchange.bytes, part.end, core.size), reduces);
    };
    add(round.sends, reduces ? theirs : mine);
    add(round.receives, reduces ? mine : theirs);
    return round;
  }

  // Between partners of the halving that follows `depth` others.
  int distance(const Core& core, int depth) const {
    return is_nearest_first_ ? 1 << depth : core.size >> (depth + 1);
  }

  // The part of the vector that member `number` holds after `depth` halvings: of each the upper half where it
  // is the upper one of the two.
  Part part_at(const Core& core, int number, int depth) const {
    Part part{0, core.size};
    for (int halving = 0; halving < depth; ++halving) {
      const int middle = (part.begin + part.end) / 2;
      (number & distance(core, halving) ? part.begin : part.end) = middle;
    }
    return part;
  }

  bool is_nearest_first_;
};

class RecursiveDoubling : public FoldedIn {
 public:
  RecursiveDoubling()
      : FoldedIn("recursive-doubling",
                 "all-reduce of whole vectors with ranks 1, 2, 4, … apart: log2(n) rounds, MPI's for small "
                 "vectors") {}

 private:
  int core_rounds(int levels) const override { return levels; }

  Round core_round(const GroupExchange& exchange, const Core& core, int number, int index) const override {
    const int peer = core.member_of(number ^ (1 << index));
    Round round;
    add_message(round.sends, peer, 0, exchange.bytes, true);
    add_message(round.receives, peer, 0, exchange.bytes, true);
    return round;
  }
};

std::unique_ptr<Collective> nearest_first() {
  return std::make_unique<HalvingDoubling>("halving-doubling",
                                           "all-reduce by recursive halving and doubling: 2 log2(n) rounds, "
                                           "half of the vector to the neighbour, as "
                                           "MPI libraries do; least bytes when n is a power of two",
                                           true);
}

std::unique_ptr<Collective> farthest_first() {
  return std::make_unique<HalvingDoubling>(
      "halving-doubling-far",
      "the same in the other order of partners: half of the vector to the rank n/2 away", false);
}

}  // namespace

const MakeCollective make_halving_doubling = nearest_first;
const MakeCollective make_halving_doubling_far = farthest_first;
const MakeCollective make_recursive_doubling = make_collective<RecursiveDoubling>;

}  // namespace longhaul
