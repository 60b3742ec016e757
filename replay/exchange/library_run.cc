#include "replay/exchange/library_run.h"

#include <algorithm>
#include <utility>

#include "core/base/index.h"
#include "net/collectives/slices.h"

namespace longhaul {

LibraryRun::LibraryRun(const ExchangeContext& context, ExchangeOrder order, MemberDone on_member_done)
    : ExchangeRun(context, std::move(order), std::move(on_member_done)),
      lowering_(lowered(context.spec, order_.rule, exchange_)),
      rounds_(lowering_.collective->rounds(exchange_)),
      steps_(rounds_ * lowering_.slices * lowering_.loops),
      members_(members()) {}

void LibraryRun::start(std::size_t member, const SyncParts& chain) {
  follow(members_[member], chain);
  const auto begin = [this, member] {
    if (is_given_up_) return;
    members_[member].has_started = true;
    advance(member);
  };
  if (lowering_.rules.operation_s == 0) return begin();
  context_.clock.after(lowering_.rules.operation_s, begin);
}

// Round by round, within a round slice by slice, loop after loop.
Round LibraryRun::round_at(std::size_t member, int step) const {
  const int slices = lowering_.slices, round = step / slices % rounds_, loop = step / slices / rounds_;
  GroupExchange part = part_of_loop(exchange_, loop, lowering_.loops);
  const std::int64_t number =
      part.bytes % lowering_.rules.number_bytes == 0 ? lowering_.rules.number_bytes : 1;
  part.bytes /= number;
  Round found = lowering_.collective->round(part, static_cast<int>(member), round);
  if (lowering_.collective->joins_parts()) found = joined(found);
  if (slices > 1) found = slice_of(found, step % slices, slices);
  for (std::vector<Message>* messages : {&found.sends, &found.receives})
    for (Message& message : *messages) {
      message.offset *= number;
      message.bytes *= number;
    }
  return found;
}

int LibraryRun::phase_of(int step) const {
  const int round = step / lowering_.slices, drained = lowering_.rules.drained_rounds;
  const int in_loop = drained == 0 ? 0 : round % rounds_ / drained;
  return round / rounds_ * (rounds_ + 1) + in_loop;
}

bool LibraryRun::may_post(const Member& member) const {
  const int step = member.next;
  if (step == steps_) return false;
  const int posted = lowering_.rules.posted;
  if (posted > 0 && step - member.first_open >= posted) return false;
  return member.first_open == step || phase_of(step) == phase_of(step - 1);
}

void LibraryRun::advance(std::size_t index) {
  Member& member = members_[index];
  const bool awaits_sends = lowering_.rules.awaits_sends;
  for (bool moves = true; moves;) {
    moves = false;
    while (!member.open.empty() && member.open.front().missing == 0 &&
           (!awaits_sends || member.open.front().unsent == 0)) {
      member.open.pop_front();
      ++member.first_open;
      moves = true;
    }
    while (may_post(member)) {
      post_step(index);
      moves = true;
    }
  }
  if (member.first_open < steps_ || member.unsent > 0 || member.is_done) return;
  member.is_done = true;
  finish(index, chain_of(member));
}

// Receives first: what is announced need not wait behind the step's own data.
void LibraryRun::post_step(std::size_t index) {
  Member& member = members_[index];
  const int step = member.next++;
  member.open.emplace_back();
  const Round round = round_at(index, step);
  member.open.back().missing = static_cast<int>(round.receives.size());
  member.open.back().unsent = static_cast<int>(round.sends.size());
  member.unsent += static_cast<int>(round.sends.size());
  for (const Message& message : round.receives) post_receive(index, message.peer, step);
  for (const Message& message : round.sends) post_send(index, message, step);
}

void LibraryRun::follow(Member& member, const SyncParts& chain) {
  member.chain = chain;
  member.led_s = now_s();
}

// A host takes time to begin, and to wake: between what led to where it is and what it does now.
SyncParts LibraryRun::chain_of(const Member& member) const {
  return until_now(member.chain, member.led_s);
}

SyncParts LibraryRun::until_now(SyncParts chain, double led_s) const {
  if (is_counting_) chain.waiting_s += std::max(0., now_s() - std::max(led_s, start_s_));
  return chain;
}

LibraryRun::Incoming& LibraryRun::incoming_of(Peer& peer, int number) {
  while (peer.first_incoming + static_cast<int>(peer.incoming.size()) <= number) peer.incoming.emplace_back();
  return peer.incoming[as_index(number - peer.first_incoming)];
}

void LibraryRun::post_receive(std::size_t index, int from, int step) {
  Peer& peer = members_[index].peers[from];
  const int number = peer.posted_incoming++;
  Incoming& incoming = incoming_of(peer, number);
  incoming.step = step;
  if (lowering_.rules.start == MessageStart::kAnnounced)
    send(Kind::kAnnouncement, index, as_index(from), number, lowering_.rules.note_bytes);
  if (incoming.is_requested) answer(index, from, number);
  if (incoming.has_arrived) take(index, from, number);
}

void LibraryRun::post_send(std::size_t index, const Message& message, int step) {
  Member& member = members_[index];
  Peer& peer = member.peers[message.peer];
  const MessageRules& rules = lowering_.rules;
  const Outgoing outgoing{step, peer.sent++, message.bytes};
  times_[index].bytes_sent += message.bytes;
  if (rules.start == MessageStart::kAnnounced) {
    if (peer.announced == 0) return peer.outgoing.push_back(outgoing);
    --peer.announced;
  } else if (rules.start == MessageStart::kRendezvous && message.bytes > rules.eager_bytes) {
    peer.outgoing.push_back(outgoing);
    return send(Kind::kRequest, index, as_index(message.peer), outgoing.number,
                rules.note_bytes + std::min(rules.ahead_bytes, message.bytes - 1));
  }
  send_data(Kind::kData, index, message.peer, outgoing, message.bytes);
}

void LibraryRun::send_data(Kind kind, std::size_t index, int peer, const Outgoing& outgoing,
                           std::int64_t bytes) {
  ++transfers_;
  send(kind, index, as_index(peer), outgoing.number,
       lowering_.rules.wire_factor * bytes + lowering_.rules.header_bytes, bytes);
  if (kind != Kind::kPut) return left(index, outgoing.step);
  members_[index].peers[peer].unreceipted.push_back(outgoing.step);
}

// A message of the step is in the hands of the kernel.
void LibraryRun::left(std::size_t index, int step) {
  Member& member = members_[index];
  --member.unsent;
  if (step >= member.first_open) --member.open[as_index(step - member.first_open)].unsent;
}

void LibraryRun::send(Kind kind, std::size_t from, std::size_t to, int number, std::int64_t bytes,
                      std::int64_t payload) {
  UnderWay* message;
  if (free_.empty()) {
    message = &messages_.emplace_back();
  } else {
    message = free_.back();
    free_.pop_back();
  }
  *message = {chain_of(members_[from]), kind, from, to, number, is_counting_, payload};
  hand_over(message, bytes);
}

// Before the first message of a connection come greetings: a round trip of TCP's, then who is there, and the
// answer to that. So the one who is connected to may send after three flights, the one who connects after
// four.
void LibraryRun::open(UnderWay* first, int side) {
  const int from = order_.group[first->from], to = order_.group[first->to];
  const auto greet = [this, first](bool is_back, std::function<void()> then) {
    const std::size_t source = is_back ? first->to : first->from, target = is_back ? first->from : first->to;
    const Transmission note =
        transmission(source, target, members_[source].sent++, lowering_.rules.note_bytes, true);
    context_.network.send(note, std::move(then), &first->chain);
  };
  const auto accept = [this, greet, side, lower = std::min(from, to), higher = std::max(from, to)] {
    if (is_given_up_ || (side == 1 && (*context_.openings)[{lower, higher}].has_begun[0])) return;
    greet(true, [this, side, lower, higher] { opened(lower, higher, side); });
    opened(lower, higher, 1 - side);
  };
  greet(false, [greet, accept] { greet(true, [greet, accept] { greet(false, accept); }); });
}

void LibraryRun::opened(int lower, int higher, int side) {
  if (is_given_up_) return;
  Opening& opening = (*context_.openings)[{lower, higher}];
  opening.is_open[side] = true;
  for (const std::function<void()>& send : std::exchange(opening.waiting[side], {})) send();
}

void LibraryRun::hand_over(UnderWay* message, std::int64_t bytes) {
  if (lowering_.rules.opens_late) {
    const int from = order_.group[message->from], to = order_.group[message->to], side = from < to ? 0 : 1;
    Opening& opening = (*context_.openings)[{std::min(from, to), std::max(from, to)}];
    if (!opening.is_open[side]) {
      members_[message->from].unopened += message->payload;
      opening.waiting[side].push_back(
          [this, message, bytes, handed_over_s = now_s(), led_total_s = message->chain.total_s()] {
            if (is_given_up_) return;
            members_[message->from].unopened -= message->payload;
            // The message that opens it has the greetings' parts, the others wait for them.
            const double greeted_s = message->chain.total_s() - led_total_s;
            message->chain = until_now(message->chain, handed_over_s + greeted_s);
            hand_over(message, bytes);
          });
      const bool is_begun =
          opening.has_begun[side] || opening.is_open[1 - side] || (side == 1 && opening.has_begun[0]);
      opening.has_begun[side] = true;
      if (!is_begun) open(message, side);
      return;
    }
  }
  const Transmission data =
      transmission(message->from, message->to, members_[message->from].sent++, bytes, true);
  context_.network.send(
      data, [this, message] { arrive(message); }, &message->chain);
}

// A host takes in what comes one message after another.
void LibraryRun::arrive(UnderWay* message) {
  if (is_given_up_) return;
  const SyncParts chain = counted(message->chain, message->is_counted);
  if (message->payload == 0 || !context_.spec.host_rate) return take_in(message, chain);
  const double arrived_s = now_s();
  double& free_s = members_[message->to].free_s;
  free_s = std::max(free_s, arrived_s) + static_cast<double>(message->payload) / *context_.spec.host_rate;
  context_.clock.after(free_s - arrived_s, [this, message, chain, arrived_s] {
    if (is_given_up_) return;
    SyncParts led = chain;
    if (is_counting_) led.waiting_s += std::min(now_s() - arrived_s, now_s() - start_s_);
    take_in(message, led);
  });
}

// Only one member goes on because of it, and that may be the end of this run.
void LibraryRun::take_in(UnderWay* message, const SyncParts& chain) {
  const auto [from, to, number, kind] =
      std::tuple(message->from, message->to, message->number, message->kind);
  free_.push_back(message);
  Member& member = members_[to];
  const int sender = static_cast<int>(from);
  Peer& peer = member.peers[sender];
  switch (kind) {
    case Kind::kPut:
    case Kind::kData: {
      Incoming& incoming = incoming_of(peer, number);
      incoming.has_arrived = true;
      if (incoming.step >= 0) {
        follow(member, chain);
        take(to, sender, number);
      }
      if (kind == Kind::kPut) send(Kind::kReceipt, to, from, number, lowering_.rules.note_bytes);
      break;
    }
    case Kind::kReceipt: {
      const int step = peer.unreceipted.front();
      peer.unreceipted.pop_front();
      follow(member, chain);
      left(to, step);
      break;
    }
    case Kind::kAnnouncement: {
      if (peer.outgoing.empty()) {
        ++peer.announced;
        break;
      }
      const Outgoing outgoing = peer.outgoing.front();
      peer.outgoing.pop_front();
      follow(member, chain);
      send_data(Kind::kData, to, sender, outgoing, outgoing.bytes);
      break;
    }
    case Kind::kRequest: {
      Incoming& incoming = incoming_of(peer, number);
      incoming.is_requested = true;
      if (incoming.step >= 0) {
        follow(member, chain);
        answer(to, sender, number);
      }
      break;
    }
    case Kind::kAnswer: {
      const auto found =
          std::find_if(peer.outgoing.begin(), peer.outgoing.end(),
                       [number = number](const Outgoing& one) { return one.number == number; });
      const Outgoing outgoing = *found;
      peer.outgoing.erase(found);
      follow(member, chain);
      send_data(lowering_.rules.awaits_receipts ? Kind::kPut : Kind::kData, to, sender, outgoing,
                outgoing.bytes - std::min(lowering_.rules.ahead_bytes, outgoing.bytes - 1));
      break;
    }
  }
  if (member.has_started) wake(to);
}

// Of several that come together one is enough.
void LibraryRun::wake(std::size_t index) {
  if (lowering_.rules.wake_s == 0) return advance(index);
  Member& member = members_[index];
  if (std::exchange(member.is_waking, true)) return;
  context_.clock.after(lowering_.rules.wake_s, [this, index] {
    if (is_given_up_) return;
    members_[index].is_waking = false;
    advance(index);
  });
}

void LibraryRun::answer(std::size_t index, int peer, int number) {
  send(Kind::kAnswer, index, as_index(peer), number, lowering_.rules.note_bytes);
}

void LibraryRun::take(std::size_t index, int from, int number) {
  Member& member = members_[index];
  Peer& peer = member.peers[from];
  Incoming& incoming = incoming_of(peer, number);
  const int step = incoming.step;
  incoming.step = -2;  // taken
  while (!peer.incoming.empty() && peer.incoming.front().step == -2) {
    peer.incoming.pop_front();
    ++peer.first_incoming;
  }
  --member.open[as_index(step - member.first_open)].missing;
}

// What waits for an answer has sent its first bytes with the request.
void LibraryRun::take_back_unsent() {
  const MessageRules& rules = lowering_.rules;
  const std::int64_t ahead = rules.start == MessageStart::kRendezvous ? rules.ahead_bytes : 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    times_[i].bytes_sent -= std::exchange(members_[i].unopened, 0);
    for (auto& [number, peer] : members_[i].peers)
      for (const Outgoing& outgoing : std::exchange(peer.outgoing, {}))
        times_[i].bytes_sent -= outgoing.bytes - std::min(ahead, outgoing.bytes - 1);
  }
}

ExchangeRun::Waiting LibraryRun::waiting(std::size_t index) const {
  const Member& member = members_[index];
  if (!member.has_started) return {};
  Waiting waits{member.first_open / lowering_.slices % rounds_};
  for (const auto& [peer, state] : member.peers)
    for (const Incoming& incoming : state.incoming)
      if (incoming.step >= 0 && !incoming.has_arrived) {
        waits.peers.push_back(peer);
        break;
      }
  return waits;
}

}  // namespace longhaul
