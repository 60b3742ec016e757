// Sends to targets: each member sends its contribution to those that were drawn for it (Epidemic Learning,
// arXiv 2310.01972), and waits for those of which it is a target; without targets, to and from everyone.
//
// One round, in which nobody waits for a member that it has nothing to do with. Idle star, exact, in slices
// or not: latency + d · B / rate, where d is the most messages that one member sends or receives. Links are
// shared fairly, so no message has less than 1/d of one.
#include "core/base/index.h"
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

using Lists = std::vector<std::vector<int>>;

class Send : public Collective {
 public:
  Send()
      : Collective(
            "send",
            "each member sends its contribution to the targets drawn for it, or to everyone, in one round",
            Unit::kVector, Shape::kOther, Purpose::kSend) {}
  int rounds(const GroupExchange&) const override { return 1; }

  Round round(const GroupExchange& exchange, int member, int) const override {
    Round round;
    add(round.sends, exchange, exchange.targets, member);
    add(round.receives, exchange, exchange.senders, member);
    return round;
  }

 private:
  std::int64_t vectors(const GroupExchange& exchange) const override {
    if (exchange.targets.empty()) return std::int64_t{exchange.members} * (exchange.members - 1);
    std::int64_t messages = 0;
    for (const std::vector<int>& targets : exchange.targets)
      messages += static_cast<std::int64_t>(targets.size());
    return messages;
  }

  // Without targets everyone begins with its successor, so that nobody is first in every list.
  static void add(std::vector<Message>& messages, const GroupExchange& exchange, const Lists& peers,
                  int member) {
    if (!exchange.targets.empty()) {
      for (const int peer : peers[as_index(member)]) add_message(messages, peer, 0, exchange.bytes, true);
      return;
    }
    for (int distance = 1; distance < exchange.members; ++distance)
      add_message(messages, (member + distance) % exchange.members, 0, exchange.bytes, true);
  }
};

}  // namespace

const MakeCollective make_send = make_collective<Send>;

}  // namespace longhaul
