#include "trainer/operations/group_messages.h"

#include <algorithm>
#include <iterator>

#include "core/base/index.h"

namespace longhaul {

GroupSplit split(const Operation& operation, const std::vector<int>& group, const Replicas& replicas) {
  GroupSplit parts;
  const RowBlock held = replicas.arena.held();
  const auto add_rank_of = [&](int replica) {
    parts.ranks.insert(holder_of(replicas.ranks, replicas.arena.replicas(), replica));
  };
  for (const int replica : group) {
    (held.contains(replica) ? parts.here : parts.elsewhere).push_back(replica);
    add_rank_of(replica);
  }
  if (operation.takers)
    for (const Operation::Taker& taker : *operation.takers)
      if (std::find(group.begin(), group.end(), taker.contributor) != group.end()) add_rank_of(taker.replica);
  return parts;
}

bool has_one_mean(const Operation& operation, const GroupSplit& group, int replicas) {
  return static_cast<int>(group.here.size() + group.elsewhere.size()) == replicas &&
         operation.targets.empty() && !operation.takers;
}

std::vector<std::vector<int>> heard_by(const Operation& operation,
                                       const std::vector<Operation::Taker>& takers,
                                       const std::vector<int>& group) {
  if (operation.targets.empty()) return {group};
  const std::vector<std::vector<int>> senders = senders_of(operation.targets);
  std::vector<std::vector<int>> heard;
  for (const Operation::Taker& taker : takers) {
    const int member = taker.contributor;
    heard.push_back(senders[as_index(member)]);
    heard.back().insert(std::lower_bound(heard.back().begin(), heard.back().end(), member), member);
  }
  return heard;
}

std::vector<Operation::Taker> takers_of(const Operation& operation, const std::vector<int>& group,
                                        const GroupSplit& parts, const RowBlock& held) {
  std::vector<Operation::Taker> takers;
  if (!operation.takers)
    for (const int replica : parts.here) takers.push_back({replica, replica});
  else
    std::copy_if(operation.takers->begin(), operation.takers->end(), std::back_inserter(takers),
                 [&](const Operation::Taker& taker) {
                   return held.contains(taker.replica) &&
                          std::binary_search(group.begin(), group.end(), taker.contributor);
                 });
  return takers;
}

GroupMessages::GroupMessages(Ranks& ranks, const GroupSplit& group, int replicas,
                             const std::map<int, const Message*>& encoded, const FormatOf& format_of,
                             int channel) {
  for (const int replica : group.elsewhere) {
    MessageFormat format = format_of(replica);
    std::vector<std::uint8_t> room(as_index(format.bytes()));
    auto& [kept, bytes] = received_[replica];
    kept = std::move(format), bytes = std::move(room);
    under_way_.push_back(
        ranks.receive(holder_of(ranks, replicas, replica), channel, bytes.data(), bytes.size()));
  }
  for (const int replica : group.here)
    for (const int other : group.ranks) {
      if (other == ranks.rank()) continue;
      const std::vector<std::uint8_t>& bytes = encoded.at(replica)->bytes();
      under_way_.push_back(ranks.send(other, channel, bytes.data(), bytes.size()));
    }
}

void GroupMessages::settle() {
  for (const auto& transfer : under_way_) transfer->wait();
  under_way_.clear();
}

std::map<int, Message> GroupMessages::wait() {
  settle();
  std::map<int, Message> messages;
  for (auto& [replica, received] : received_)
    messages[replica] = Message(std::move(received.first), std::move(received.second));
  return messages;
}

}  // namespace longhaul
