#include "trainer/updates/outer_update.h"

#include <algorithm>

namespace longhaul {
namespace {

bool contains(const std::vector<std::string>& tensors, const std::string& name) {
  return std::find(tensors.begin(), tensors.end(), name) != tensors.end();
}

}  // namespace

void OuterUpdate::start(Replicas& replicas) {
  Arena& arena = replicas.arena;
  replicas.backend.for_each(arena.held().size(), [&](int at) {
    const int replica = arena.held().first + at;
    const float* weights = arena.row(Slot::kWeights, replica);
    std::copy(weights, weights + arena.parameters(), arena.row(Slot::kSlowWeights, replica));
  });
}

// All ranks go through the groups in the same order, so that nobody waits for one who waits for him.
void OuterUpdate::exchange(const Exchange& exchange, Replicas& replicas) {
  replicas.log.begin(exchange.post_step, exchange.rule->name);
  for (const std::vector<int>& group : sorted_groups(exchange, replicas.arena.replicas())) {
    replicas.log.group(group);
    const GroupSplit parts = split(group, replicas.arena.held());
    if (parts.here.empty()) continue;
    if (parts.spans_ranks())
      exchange_over_ranks(exchange, group, replicas);
    else
      step_in_pieces(members_here(group, contains(exchange.rule->tensors, "phi"), replicas), replicas);
  }
  replicas.log.end();
}

void OuterUpdate::post(const Exchange& exchange, Replicas& replicas) {
  replicas.log.begin(exchange.post_step, exchange.rule->name);
  for (const std::vector<int>& group : sorted_groups(exchange, replicas.arena.replicas())) {
    replicas.log.group(group);
    const GroupSplit parts = split(group, replicas.arena.held());
    for (int replica : parts.here) {
      Message anchor = Message::of_row(replicas.arena.row(Slot::kSlowWeights, replica),
                                       replicas.arena.parameters(), replicas.wire)
                           .packed();
      replicas.log.sent(replica, "phi", anchor.bytes());
      in_flight_[replica] = std::move(anchor);
    }
    if (parts.spans_ranks()) send_ahead(parts, replicas);
  }
  replicas.log.end();
}

void OuterUpdate::exchange_over_ranks(const Exchange& exchange, const std::vector<int>& group,
                                      Replicas& replicas) {
  const GroupSplit parts = split(group, replicas.arena.held());
  const std::int64_t columns = replicas.arena.parameters();
  std::vector<OuterMember> mine = members_here(group, contains(exchange.rule->tensors, "phi"), replicas);
  std::map<int, Message> deltas;
  for (std::size_t i = 0; i < mine.size(); ++i) deltas[parts.here[i]] = mine[i].delta.packed();
  GroupMessages exchanged(replicas.ranks, parts, replicas.arena.replicas(), deltas, columns, replicas.wire,
                          kLockstep);
  std::map<int, Message> other_anchors;
  if (needs_anchors()) other_anchors = anchors_from_elsewhere(parts, mine, replicas);
  std::map<int, Message> other_deltas = exchanged.wait();

  std::vector<OuterMember> all;  // in the order of the group: that of the sums
  std::size_t next = 0;
  for (int replica : group) {
    if (replicas.arena.held().contains(replica))
      all.push_back(std::move(mine[next++]));
    else
      all.push_back(
          {nullptr, nullptr, nullptr, std::move(other_deltas[replica]), std::move(other_anchors[replica])});
  }
  step_in_pieces(all, replicas);
}

void OuterUpdate::step_in_pieces(const std::vector<OuterMember>& group, Replicas& replicas) const {
  for_each_piece(replicas.backend, replicas.arena.parameters(),
                 [&](std::int64_t begin, std::int64_t end) { step(group, begin, end); });
}

void OuterUpdate::send_ahead(const GroupSplit& group, Replicas& replicas) {
  ahead_.emplace(group.here[0], GroupMessages(replicas.ranks, group, replicas.arena.replicas(), in_flight_,
                                              replicas.arena.parameters(), replicas.wire, kAhead));
}

std::map<int, Message> OuterUpdate::anchors_from_elsewhere(const GroupSplit& group,
                                                           const std::vector<OuterMember>& mine,
                                                           Replicas& replicas) {
  const auto sent_ahead = ahead_.find(group.here[0]);
  if (sent_ahead != ahead_.end()) {
    std::map<int, Message> anchors = sent_ahead->second.wait();
    ahead_.erase(sent_ahead);
    return anchors;
  }
  std::map<int, Message> packed;
  for (std::size_t i = 0; i < mine.size(); ++i) packed[group.here[i]] = mine[i].anchor.packed();
  return GroupMessages(replicas.ranks, group, replicas.arena.replicas(), packed, replicas.arena.parameters(),
                       replicas.wire, kLockstep)
      .wait();
}

std::vector<OuterMember> OuterUpdate::members_here(const std::vector<int>& group, bool anchors_come_along,
                                                   Replicas& replicas) {
  Arena& arena = replicas.arena;
  std::vector<OuterMember> here;
  for (int replica : split(group, arena.held()).here) {
    OuterMember member{arena.row(Slot::kWeights, replica),
                       arena.row(Slot::kSlowWeights, replica),
                       arena.row(Slot::kOuterMomentum, replica),
                       {},
                       {}};
    member.delta = Message::of_difference(member.theta, member.phi, arena.parameters(), replicas.wire);
    replicas.log.sent(replica, "delta", member.delta.bytes());
    if (needs_anchors()) member.anchor = take_anchor(replica, replicas);
    if (anchors_come_along) replicas.log.sent(replica, "phi", member.anchor.bytes());
    here.push_back(std::move(member));
  }
  return here;
}

Message OuterUpdate::take_anchor(int replica, Replicas& replicas) {
  const auto sent_ahead = in_flight_.find(replica);
  if (sent_ahead == in_flight_.end())
    return Message::of_row(replicas.arena.row(Slot::kSlowWeights, replica), replicas.arena.parameters(),
                           replicas.wire);
  Message anchor = std::move(sent_ahead->second);
  in_flight_.erase(sent_ahead);
  return anchor;
}

}  // namespace longhaul
