// The group average of the NoLoCo authors' code: each tensor goes to the first member of the group and its
// average comes back, one tensor after the other. With two tensors (Δ and φ) and n = 2 that is four messages
// in series, where a symmetric exchange needs one.
//
// A member other than the root sends B, the root (n−1) · B.
// Idle star, exact: 2 · tensors · latency + 2(n−1) · B / rate; the root's link carries everything.
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

class Root : public Collective {
 public:
  std::string name() const override { return "root"; }
  std::string about() const override {
    return "group average at one member, tensor by tensor there and back (the NoLoCo authors' code)";
  }
  Purpose purpose() const override { return Purpose::kAverage; }
  int rounds(const GroupExchange& exchange) const override { return 2 * exchange.tensors; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const bool reduces = index % 2 == 0;
    const int tensor = index / 2;
    Round round;
    if (member > 0) {
      add_part(reduces ? round.sends : round.receives, 0, exchange.bytes, tensor, exchange.tensors, reduces);
    } else {
      for (int peer = 1; peer < exchange.members; ++peer)
        add_part(reduces ? round.receives : round.sends, peer, exchange.bytes, tensor, exchange.tensors,
                 reduces);
    }
    return round;
  }

  Totals totals(const GroupExchange& exchange) const override {
    const std::int64_t others = exchange.members - 1;
    const std::int64_t tensors = exchange.bytes < exchange.tensors ? exchange.bytes : exchange.tensors;
    return {2 * others * tensors, 2 * others * exchange.bytes};
  }

  double idle_star_s(const GroupExchange& exchange, double latency_s, double bytes_per_s) const override {
    const double vector_s = static_cast<double>(exchange.bytes) / bytes_per_s;
    return 2 * exchange.tensors * latency_s + 2 * (exchange.members - 1) * vector_s;
  }
};

}  // namespace

std::unique_ptr<Collective> make_root() {
  return std::make_unique<Root>();
}

}  // namespace longhaul
