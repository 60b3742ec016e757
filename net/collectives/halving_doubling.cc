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
// "halving-doubling-halves" is Open MPI's where n is no power of two (4.1.4 and 5.0.10,
// ompi/mca/coll/base/coll_base_allreduce.c): each pair exchanges the halves of the vector that the other
// keeps, the odd one sends what it has summed up to the even one, which is of the core, and gets the whole
// result at the end.
//
// A core member sends 2(p−1)/p · B, and B more if it serves a surplus one, which itself sends B. Idle star,
// exact: 2 · log2(p) · latency + 2(p−1)/p · B/rate, and 2 · (latency + B/rate) more if n is not p; the order
// of partners changes nothing there. Recursive doubling exchanges the whole vector with m xor 2^j in each
// round: a core member sends log2(p) · B, in log2(p) · (latency + B/rate), and the same more if n is not p.
//
// Rounds are blocking send-receives, as in MPI: otherwise members without a surplus one would send halves to
// a member that is still receiving a whole vector, and both would take longer (up to 1.9 times the closed
// form for n = 3 … 33). "halving-doubling-halves" takes 3 latencies and 2 B/rate more than the core alone.
#include "net/collectives/collective.h"
#include "net/collectives/power_of_two_core.h"

namespace longhaul {
namespace {

// Rounds among the core, between the rounds that fold the surplus in and give it the result.
class FoldedIn : public Collective {
 public:
  using Collective::Collective;

  int rounds(const GroupExchange& exchange) const override {
    const PowerOfTwoCore core(exchange.members);
    return core_rounds(core.levels) + (core.surplus > 0 ? rounds_to_fold() + 1 : 0);
  }

  bool awaits_delivery() const override { return true; }
  bool awaits_receiver() const override { return true; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const PowerOfTwoCore core(exchange.members);
    if (core.surplus > 0) {
      const int first = rounds_to_fold();
      if (index < first || index == rounds(exchange) - 1) return fold(exchange, core, member, index);
      index -= first;
    }
    return folds(core, member) ? Round{} : core_round(exchange, core, core.number_of(member), index);
  }

 protected:
  // The core's member of that number.
  virtual int member_of(const PowerOfTwoCore& core, int number) const { return core.member_of(number); }

 private:
  virtual int core_rounds(int levels) const = 0;
  // Of the core's member `number`.
  virtual Round core_round(const GroupExchange& exchange, const PowerOfTwoCore& core, int number,
                           int index) const = 0;
  virtual bool folds(const PowerOfTwoCore& core, int member) const { return core.folds(member); }
  virtual int rounds_to_fold() const { return 1; }

  // A surplus member's vector on its way in (round 0), or the result on its way back.
  virtual Round fold(const GroupExchange& exchange, const PowerOfTwoCore& core, int member, int index) const {
    const bool in = index == 0;
    Round round;
    if (core.folds(member)) add_message(in ? round.sends : round.receives, member + 1, 0, exchange.bytes, in);
    if (core.serves(member))
      add_message(in ? round.receives : round.sends, member - 1, 0, exchange.bytes, in);
    return round;
  }
};

class HalvingDoubling : public FoldedIn {
 public:
  HalvingDoubling(const std::string& name, const std::string& about, bool is_nearest_first,
                  Purpose purpose = Purpose::kAllReduce)
      : FoldedIn(name, about, Unit::kNone, Shape::kOther, purpose), is_nearest_first_(is_nearest_first) {}

 private:
  struct Part {
    int begin, end;  // chunks of 2^levels
  };

  int core_rounds(int levels) const override { return 2 * levels; }

  Round core_round(const GroupExchange& exchange, const PowerOfTwoCore& core, int number,
                   int index) const override {
    const bool reduces = index < core.levels;
    const int depth = reduces ? index : 2 * core.levels - 1 - index;
    const int peer = number ^ distance(core, depth);
    const Part mine = part_at(core, number, depth + 1), theirs = part_at(core, peer, depth + 1);
    Round round;
    const auto add = [&](std::vector<Message>& messages, Part part) {
      add_message(messages, member_of(core, peer), part_begin(exchange.bytes, part.begin, core.size),
                  part_begin(exchange.bytes, part.end, core.size), reduces);
    };
    add(round.sends, reduces ? theirs : mine);
    add(round.receives, reduces ? mine : theirs);
    return round;
  }

  // Between partners of the halving that follows `depth` others.
  int distance(const PowerOfTwoCore& core, int depth) const {
    return is_nearest_first_ ? 1 << depth : core.size >> (depth + 1);
  }

  // The part of the vector that member `number` holds after `depth` halvings: of each the upper half where it
  // is the upper one of the two.
  Part part_at(const PowerOfTwoCore& core, int number, int depth) const {
    Part part{0, core.size};
    for (int halving = 0; halving < depth; ++halving) {
      const int middle = (part.begin + part.end) / 2;
      (number & distance(core, halving) ? part.begin : part.end) = middle;
    }
    return part;
  }

  bool is_nearest_first_;
};

// Of the surplus pairs the even members are of the core.
class HalvingDoublingHalves : public HalvingDoubling {
 public:
  HalvingDoublingHalves()
      : HalvingDoubling(
            "halving-doubling-halves",
            "the all-reduce halving-doubling as Open MPI has it where n is no power of two: folds "
            "in two halves",
            true, Purpose::kLibrary) {}

 private:
  int member_of(const PowerOfTwoCore& core, int number) const override { return core.even_member_of(number); }
  bool folds(const PowerOfTwoCore& core, int member) const override { return core.serves(member); }
  int rounds_to_fold() const override { return 2; }

  // 0: halves are exchanged; 1: the odd member's sum goes to the even one; the last: the result comes back.
  Round fold(const GroupExchange& exchange, const PowerOfTwoCore& core, int member,
             int index) const override {
    const bool is_even = core.folds(member), is_last = index > 1;
    Round round;
    if (!is_even && !core.serves(member)) return round;
    const int peer = is_even ? member + 1 : member - 1;
    const std::int64_t middle = exchange.bytes / 2, end = exchange.bytes;
    const auto lower = [&](std::vector<Message>& to) { add_message(to, peer, 0, middle, true); };
    const auto upper = [&](std::vector<Message>& to, bool reduces) {
      add_message(to, peer, middle, end, reduces);
    };
    std::vector<Message>&of_even = is_even ? round.sends : round.receives,
    &of_odd = is_even ? round.receives : round.sends;
    if (is_last) {
      add_message(of_even, peer, 0, end, false);
    } else if (index == 0) {
      upper(of_even, true);
      lower(of_odd);
    } else {
      upper(of_odd, false);
    }
    return round;
  }
};

class RecursiveDoubling : public FoldedIn {
 public:
  RecursiveDoubling()
      : FoldedIn("recursive-doubling",
                 "all-reduce of whole vectors with ranks 1, 2, 4, … apart: log2(n) rounds, MPI's for small "
                 "vectors") {}

 private:
  int core_rounds(int levels) const override { return levels; }

  Round core_round(const GroupExchange& exchange, const PowerOfTwoCore& core, int number,
                   int index) const override {
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
const MakeCollective make_halving_doubling_halves = make_collective<HalvingDoublingHalves>;
const MakeCollective make_recursive_doubling = make_collective<RecursiveDoubling>;

}  // namespace longhaul
