#include "net/collectives/collective.h"

#include "core/index.h"

namespace longhaul {

GroupExchange group_exchange(const std::vector<int>& group, std::int64_t bytes, std::size_t tensors,
                             const std::vector<int>& site_of_replica) {
  GroupExchange exchange{static_cast<int>(group.size()), bytes, static_cast<int>(tensors), {}};
  if (!site_of_replica.empty())
    for (const int replica : group) exchange.site_of.push_back(site_of_replica[as_index(replica)]);
  return exchange;
}

std::int64_t bytes_sent(const Collective& collective, const GroupExchange& exchange, int member) {
  std::int64_t total = 0;
  for (int index = 0; index < collective.rounds(exchange); ++index)
    for (const Message& message : collective.round(exchange, member, index).sends) total += message.bytes;
  return total;
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

int floor_log2(int n) {
  int log = 0;
  while (n >> (log + 1)) ++log;
  return log;
}

int ceil_log2(int n) {
  return n <= 1 ? 0 : floor_log2(n - 1) + 1;
}

}  // namespace longhaul
