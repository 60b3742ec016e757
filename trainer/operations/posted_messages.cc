#include "trainer/operations/posted_messages.h"

#include <algorithm>
#include <iterator>

#include "core/base/index.h"
#include "trainer/codecs/reduction.h"

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

const PayloadPart* find_part(const Operation& operation, const std::string& tensor) {
  for (const PayloadPart& part : operation.rule->payload)
    if (part.tensor == tensor) return &part;
  return nullptr;
}

MessageFormat format_of(const Operation& operation, PayloadPart part, std::int64_t parameters) {
  part.codec = contributed_as(part.codec);
  return MessageFormat(part, parameters, operation.draw);
}

PostedMessages::Posted& PostedMessages::add(const Operation& operation) {
  Posted& posted = posted_[key_of(operation)];
  posted.operation = operation;
  return posted;
}

void PostedMessages::settle() {
  for (auto& [key, posted] : posted_)
    for (auto& [part, messages] : posted.under_way) messages.settle();
}

const PostedMessages::Posted* PostedMessages::ahead_of(const Operation& operation, const std::string& tensor,
                                                       int replica) const {
  if (operation.rule->is_blocking() && find_part(operation, tensor)) return nullptr;
  const auto has = [replica](const std::vector<int>& replicas) {
    return std::find(replicas.begin(), replicas.end(), replica) != replicas.end();
  };
  if (has(operation.sends_anew)) return nullptr;
  for (const auto& [key, posted] : posted_) {
    if (posted.operation.await_step != operation.await_step ||
        posted.operation.rule->stage != operation.rule->stage || !find_part(posted.operation, tensor))
      continue;
    if (!operation.rule->is_blocking() && key != key_of(operation)) continue;
    if (replicas_.arena.held().contains(replica)) {
      if (posted.messages.count({tensor, replica}) > 0) return &posted;
      continue;
    }
    const auto groups = groups_of(posted.operation, replicas_.arena.replicas());
    if (std::any_of(groups.begin(), groups.end(), has)) return &posted;
  }
  return nullptr;
}

const Message* PostedMessages::sent_ahead(const Operation& operation, const std::string& tensor,
                                          int replica) const {
  const Posted* posted = ahead_of(operation, tensor, replica);
  if (!posted) return nullptr;
  const auto found = posted->messages.find({tensor, replica});
  return found == posted->messages.end() ? nullptr : &found->second;
}

std::optional<std::map<int, Message>> PostedMessages::wait(const Operation& operation,
                                                           const std::string& tensor, int replica) {
  const Posted* ahead = ahead_of(operation, tensor, replica);
  if (!ahead) return std::nullopt;
  std::map<Place, GroupMessages>& all = posted_.at(key_of(ahead->operation)).under_way;
  const auto found = all.find({tensor, replica});
  return found == all.end() ? std::nullopt : std::optional(found->second.wait());
}

bool PostedMessages::has_ahead(const Operation& operation) const {
  return std::any_of(posted_.begin(), posted_.end(), [&](const auto& item) {
    const Operation& posted = item.second.operation;
    return posted.await_step == operation.await_step && posted.rule->stage == operation.rule->stage;
  });
}

std::vector<PostedMessages::Pending> PostedMessages::pending(const std::vector<Operation>& operations) const {
  std::vector<Pending> all;
  for (const Operation& operation : operations) {
    const auto posted = posted_.find(key_of(operation));
    for (const std::vector<int>& group : sorted_groups(operation, replicas_.arena.replicas()))
      for (const PayloadPart& part : operation.rule->payload)
        for (const int replica : group) {
          Pending pending{"pending." + operation.rule->name + "." + std::to_string(operation.post_step) +
                              "." + part.tensor + "." + std::to_string(replica),
                          part.tensor, replica, format_of(operation, part, replicas_.arena.parameters())};
          if (posted != posted_.end() && replicas_.arena.held().contains(replica))
            pending.message = &posted->second.messages.at({part.tensor, replica});
          all.push_back(std::move(pending));
        }
  }
  std::sort(all.begin(), all.end(), [](const Pending& a, const Pending& b) { return a.name < b.name; });
  return all;
}

void PostedMessages::put(const Operation& operation, const FetchMessage& fetch) {
  std::vector<Pending> all = pending({operation});
  Posted& posted = add(operation);
  for (Pending& pending : all) {
    std::vector<std::uint8_t> bytes = fetch(pending);
    if (replicas_.arena.held().contains(pending.replica))
      posted.messages[{pending.tensor, pending.replica}] =
          Message(std::move(pending.format), std::move(bytes));
  }
}

}  // namespace longhaul
