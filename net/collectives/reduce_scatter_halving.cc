// Recursive halving: member m ends up with part m of the sum, as MPI libraries reduce and scatter small
// vectors (Open MPI 4.1.4, coll_base_reduce_scatter_block.c; MPICH 5.0.1,
// reduce_scatter_block_intra_recursive_halving.c).
//
// Let p = 2^floor(log2 n). The first 2(n − p) members are pairs: the even one sends its vector to the odd
// one, which looks after the parts of both, and gets its part at the end. Among the p, member m exchanges
// with m xor p/2 the half of the parts that the other looks after, then with m xor p/4 a quarter, and so on.
//
// Idle star, exact up to the rounding of parts: log2(n) · latency + (n−1)/n · B/rate where n is a power of
// two. Otherwise with s = n − p: log2(p) · latency + sum of (h + min(s, h))/n · B/rate over h = p/2, p/4, …,
// 1, and 2 latency + (1 + 1/n) · B/rate more.
#include "net/collectives/collective.h"
#include "net/collectives/power_of_two_core.h"

namespace longhaul {
namespace {

class ReduceScatterHalving : public Collective {
 public:
  ReduceScatterHalving()
      : Collective("reduce-scatter-halving",
                   "each member gets the sum of its 1/n of the vector, in log2(n) rounds that halve it; no "
                   "all-reduce",
                   Unit::kNone, Shape::kOther, Purpose::kReduceScatter) {}

  int rounds(const GroupExchange& exchange) const override {
    const PowerOfTwoCore core(exchange.members);
    return core.levels + (core.surplus > 0 ? 2 : 0);
  }
  bool awaits_delivery() const override { return true; }
  bool awaits_receiver() const override { return true; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const PowerOfTwoCore core(exchange.members);
    if (core.surplus > 0) {
      if (index == 0) return fold_in(exchange, core, member);
      if (index == rounds(exchange) - 1) return give_back(exchange, core, member);
      --index;
    }
    return core.folds(member) ? Round{} : halve(exchange, core, core.number_of(member), index);
  }

 private:
  static Round fold_in(const GroupExchange& exchange, const PowerOfTwoCore& core, int member) {
    Round round;
    if (core.folds(member)) add_message(round.sends, member + 1, 0, exchange.bytes, true);
    if (core.serves(member)) add_message(round.receives, member - 1, 0, exchange.bytes, true);
    return round;
  }

  static Round give_back(const GroupExchange& exchange, const PowerOfTwoCore& core, int member) {
    Round round;
    if (core.folds(member))
      add_part(round.receives, member + 1, exchange.bytes, member, exchange.members, false);
    if (core.serves(member))
      add_part(round.sends, member - 1, exchange.bytes, member - 1, exchange.members, false);
    return round;
  }

  static Round halve(const GroupExchange& exchange, const PowerOfTwoCore& core, int number, int index) {
    const int distance = core.size >> (index + 1), peer = number ^ distance;
    Round round;
    // The parts of those of the core that are `distance` numbers from a multiple of it.
    const auto add = [&](std::vector<Message>& messages, int of) {
      const int first = of & ~(distance - 1);
      add_message(messages, core.member_of(peer), begin_of(exchange, core, first),
                  begin_of(exchange, core, first + distance), true);
    };
    add(round.sends, peer);
    add(round.receives, number);
    return round;
  }

  // Where the parts begin that the core's member `number` looks after.
  static std::int64_t begin_of(const GroupExchange& exchange, const PowerOfTwoCore& core, int number) {
    const int part = number < core.surplus ? 2 * number : number + core.surplus;
    return part_begin(exchange.bytes, part, exchange.members);
  }
};

}  // namespace

const MakeCollective make_reduce_scatter_halving = make_collective<ReduceScatterHalving>;

}  // namespace longhaul
