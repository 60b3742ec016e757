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
  replicas.backend.for_each(arena.replicas(), [&](int replica) {
    const float* weights = arena.row(Slot::kWeights, replica);
    std::copy(weights, weights + arena.parameters(), arena.row(Slot::kSlowWeights, replica));
  });
}

void OuterUpdate::exchange(const Exchange& exchange, Replicas& replicas) {
  replicas.log.begin(exchange.post_step, exchange.rule->name);
  for (const std::vector<int>& group : groups_of(exchange, replicas.arena.replicas())) {
    replicas.log.group(group);
    const std::vector<OuterMember> all = members(group, contains(exchange.rule->tensors, "phi"), replicas);
    for_each_piece(replicas.backend, replicas.arena.parameters(),
                   [&](std::int64_t begin, std::int64_t end) { step(all, begin, end); });
  }
  replicas.log.end();
}

void OuterUpdate::post(const Exchange& exchange, Replicas& replicas) {
  replicas.log.begin(exchange.post_step, exchange.rule->name);
  for (const std::vector<int>& group : groups_of(exchange, replicas.arena.replicas())) {
    replicas.log.group(group);
    for (int replica : group) {
      Message anchor = Message::of_row(replicas.arena.row(Slot::kSlowWeights, replica),
                                       replicas.arena.parameters(), replicas.wire)
                           .packed();
      replicas.log.sent(replica, "phi", anchor.bytes());
      in_flight_[replica] = std::move(anchor);
    }
  }
  replicas.log.end();
}

std::vector<OuterMember> OuterUpdate::members(const std::vector<int>& group, bool anchors_come_along,
                                              Replicas& replicas) {
  Arena& arena = replicas.arena;
  std::vector<OuterMember> all;
  for (int replica : group) {
    OuterMember member{arena.row(Slot::kWeights, replica),
                       arena.row(Slot::kSlowWeights, replica),
                       arena.row(Slot::kOuterMomentum, replica),
                       {},
                       {}};
    member.delta = Message::of_difference(member.theta, member.phi, arena.parameters(), replicas.wire);
    replicas.log.sent(replica, "delta", member.delta.bytes());
    if (needs_anchors()) member.anchor = take_anchor(replica, replicas);
    if (anchors_come_along) replicas.log.sent(replica, "phi", member.anchor.bytes());
    all.push_back(std::move(member));
  }
  return all;
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
