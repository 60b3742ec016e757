#include "net/collectives/collective.h"

#include <numeric>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "core/plan/operations.h"

namespace longhaul {

GroupExchange group_exchange(const std::vector<int>& group, std::int64_t bytes, std::size_t tensors,
                             const std::vector<int>& site_of_replica,
                             const std::vector<std::vector<int>>& targets,
                             const std::vector<std::int64_t>& parts) {
  GroupExchange exchange{static_cast<int>(group.size()), bytes, static_cast<int>(tensors), {}};
  if (!site_of_replica.empty())
    for (const int replica : group) exchange.site_of.push_back(site_of_replica[as_index(replica)]);
  exchange.targets = targets;
  exchange.senders = senders_of(targets);
  exchange.parts = parts;
  return exchange;
}

std::int64_t part_begin(std::int64_t bytes, std::int64_t index, std::int64_t parts) {
  // Split so that index · bytes cannot overflow.
  return bytes / parts * index + bytes % parts * index / parts;
}

std::int64_t largest_part(std::int64_t bytes, std::int64_t parts) {
  return bytes / parts + (bytes % parts > 0 ? 1 : 0);
}

void add_message(std::vector<Message>& messages, int peer, std::int64_t begin, std::int64_t end,
                 bool reduces) {
  if (end > begin) messages.push_back({peer, begin, end - begin, reduces});
}

void add_part(std::vector<Message>& messages, int peer, std::int64_t bytes, std::int64_t index,
              std::int64_t parts, bool reduces) {
  add_message(messages, peer, part_begin(bytes, index, parts), part_begin(bytes, index + 1, parts), reduces);
}

Part part_between(const GroupExchange& exchange, int from, int to) {
  const std::int64_t n = exchange.members, own = from * exchange.bytes;
  if (exchange.parts.empty()) {
    const std::int64_t begin = part_begin(exchange.bytes, to, n);
    return {own + begin, part_begin(exchange.bytes, to + 1, n) - begin};
  }
  const auto first = exchange.parts.begin() + from * n;
  return {std::accumulate(first, first + to, own), *(first + to)};
}

void add_part_between(std::vector<Message>& messages, const GroupExchange& exchange, int peer, int from,
                      int to) {
  const Part part = part_between(exchange, from, to);
  add_message(messages, peer, part.begin, part.begin + part.bytes, false);
}

Round joined(const Round& round) {
  const auto join = [](const std::vector<Message>& messages) {
    std::vector<Message> whole;
    for (const Message& message : messages) {
      const auto found = find_if(whole, [&](const Message& one) { return one.peer == message.peer; });
      if (found == whole.end())
        whole.push_back(message);
      else
        found->bytes += message.bytes;
    }
    return whole;
  };
  return {join(round.sends), join(round.receives)};
}

Totals Collective::totals(const GroupExchange& exchange) const {
  if (unit_ == Unit::kVector) {
    const std::int64_t messages = vectors(exchange);
    return {exchange.bytes > 0 ? messages : 0, messages * exchange.bytes};
  }
  Totals totals;
  for (int member = 0; member < exchange.members; ++member)
    for (int index = 0; index < rounds(exchange); ++index) {
      const Round whole = round(exchange, member, index);
      for (const Message& message : joins_parts() ? joined(whole).sends : whole.sends) {
        ++totals.transfers;
        totals.bytes += message.bytes;
      }
    }
  return totals;
}

std::int64_t Collective::unit_bytes(const GroupExchange& exchange) const {
  if (unit_ == Unit::kNone) return 0;
  return unit_ == Unit::kVector ? exchange.bytes : largest_part(exchange.bytes, exchange.members);
}

int floor_log2(int n) {
  int log = 0;
  while (n >> (log + 1)) ++log;
  return log;
}

int ceil_log2(int n) {
  return n <= 1 ? 0 : floor_log2(n - 1) + 1;
}

const std::vector<std::unique_ptr<Collective>>& collectives() {
  static const std::vector<std::unique_ptr<Collective>> all = [] {
    std::vector<std::unique_ptr<Collective>> list;
    for (const MakeCollective make : {make_ring,
                                      make_tree,
                                      make_leaf_tree,
                                      make_heap_tree,
                                      make_double_tree,
                                      make_double_tree_8,
                                      make_double_tree_16,
                                      make_halving_doubling,
                                      make_halving_doubling_far,
                                      make_halving_doubling_halves,
                                      make_recursive_doubling,
                                      make_direct,
                                      make_parameter_server,
                                      make_hierarchical,
                                      make_pair_average,
                                      make_root,
                                      make_serial_pair,
                                      make_all_gather,
                                      make_all_gather_doubling,
                                      make_reduce_scatter,
                                      make_reduce_scatter_halving,
                                      make_reduce_scatter_pairwise,
                                      make_reduce_scatter_root,
                                      make_send,
                                      make_pairwise,
                                      make_bruck})
      list.push_back(make());
    return list;
  }();
  return all;
}

const Collective& find_collective(const std::string& name) {
  return *find_named(name, collectives(), &Collective::name, "collective", "see longhaul list collectives");
}

}  // namespace longhaul
