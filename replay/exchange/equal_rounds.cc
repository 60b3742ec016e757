#include "replay/exchange/equal_rounds.h"

#include <utility>

namespace longhaul {

bool EqualRounds::are_in(const Collective& collective, const GroupExchange& exchange) {
  if (collective.shape(exchange.members) != Collective::Shape::kRing) return false;
  const Totals totals = collective.totals(exchange);
  return totals.transfers == std::int64_t{exchange.members} * collective.rounds(exchange) &&
         totals.bytes == totals.transfers * collective.unit_bytes(exchange);
}

bool EqualRounds::enter(int round, std::int64_t now_ns) {
  if (round != entered_ || now_ns != entered_ns_) count_ = 0;
  entered_ = round;
  entered_ns_ = now_ns;
  return ++count_ == messages_.size();
}

void EqualRounds::take_apart(int round) {
  apart_ = round;
  left_apart_ = messages_.size();
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    messages_[i].led_to = std::exchange(*chains_[i], {});
    messages_[i].is_apart = true;
  }
}

void EqualRounds::put_together(std::size_t member, SyncParts& chain) {
  OwnMessage& message = messages_[member];
  if (!std::exchange(message.is_apart, false)) return;
  --left_apart_;
  message.added_before = std::exchange(message.added, chain);
  chain = message.led_to;
  chain += message.added;
}

// What led to a message is that of the predecessor's in the round before, and what was added to it.
void EqualRounds::skip(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const auto added = round % 2 == 0 ? &OwnMessage::added_before : &OwnMessage::added;
    SyncParts arrived = messages_.back().led_to;
    arrived += messages_.back().*added;
    for (OwnMessage& message : messages_) {
      std::swap(arrived, message.led_to);
      arrived += message.*added;
    }
  }
}

}  // namespace longhaul
