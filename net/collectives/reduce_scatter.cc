#include "net/collectives/reduce_scatter.h"

#include <algorithm>

namespace longhaul {
namespace {

class ReduceScatter : public Collective {
 public:
  std::string name() const override { return "reduce-scatter"; }
  std::string about() const override {
    return "each member gets the sum of its 1/n of the vector, around a ring in n-1 rounds; no all-reduce";
  }
  int rounds(const GroupExchange& exchange) const override { return exchange.members - 1; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const int n = exchange.members;
    Round round;
    add_part(round.sends, exchange, (member + 1) % n, member - 1 - index);
    add_part(round.receives, exchange, (member + n - 1) % n, member - 2 - index);
    return round;
  }

  // The parts of one round are all different: together the members send the vector once a round.
  Totals totals(const GroupExchange& exchange) const override {
    const std::int64_t n = exchange.members;
    return {rounds(exchange) * std::min(exchange.bytes, n), rounds(exchange) * exchange.bytes};
  }

  double idle_star_s(const GroupExchange& exchange, double latency_s, double bytes_per_s) const override {
    const double part = static_cast<double>(exchange.bytes) / exchange.members;
    return rounds(exchange) * (latency_s + part / bytes_per_s);
  }

 private:
  static void add_part(std::vector<Message>& messages, const GroupExchange& exchange, int peer, int part) {
    const int n = exchange.members, index = (part % n + n) % n;
    add_message(messages, peer, part_begin(exchange.bytes, index, n),
                part_begin(exchange.bytes, index + 1, n), true);
  }
};

}  // namespace

std::unique_ptr<Collective> make_reduce_scatter() {
  return std::make_unique<ReduceScatter>();
}

}  // namespace longhaul
