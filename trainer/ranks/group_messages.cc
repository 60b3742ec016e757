#include "trainer/ranks/group_messages.h"

#include <set>

#include "core/index.h"

namespace longhaul {

GroupSplit split(const std::vector<int>& group, const RowBlock& held) {
  GroupSplit parts;
  for (int replica : group) (held.contains(replica) ? parts.here : parts.elsewhere).push_back(replica);
  return parts;
}

GroupMessages::GroupMessages(Ranks& ranks, const GroupSplit& group, int replicas,
                             const std::map<int, const Message*>& encoded, MessageFormat format, int channel)
    : format_(std::move(format)) {
  std::set<int> others;
  for (int replica : group.elsewhere) {
    const int holder = holder_of(ranks, replicas, replica);
    others.insert(holder);
    std::vector<std::uint8_t>& bytes = received_[replica];
    bytes.resize(as_index(format_.bytes()));
    under_way_.push_back(ranks.receive(holder, channel, bytes.data(), bytes.size()));
  }
  for (int replica : group.here)
    for (int other : others) {
      const std::vector<std::uint8_t>& bytes = encoded.at(replica)->bytes();
      under_way_.push_back(ranks.send(other, channel, bytes.data(), bytes.size()));
    }
}

std::map<int, Message> GroupMessages::wait() {
  for (const auto& transfer : under_way_) transfer->wait();
  under_way_.clear();
  std::map<int, Message> messages;
  for (auto& [replica, bytes] : received_) messages[replica] = Message(format_, std::move(bytes));
  return messages;
}

}  // namespace longhaul
