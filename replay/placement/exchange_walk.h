// How long one exchange of a collective takes, for any sites of its members: the rounds are worked out once,
// and then walked again and again.
//
// All members begin together and no two messages share a link. A message leaves when its sender is in the
// message's round (and its receiver, where the collective asks for that), and arrives after latency + bytes ·
// time of a byte, not before an earlier one of the same two; a member enters the next round when all that it
// has to receive has arrived (and what it sent, where the collective asks for that). That is what
// ExchangeRun does on the network of fidelity analytic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/collectives/collective.h"
#include "replay/placement/site_paths.h"

namespace longhaul {

class ExchangeWalk {
 public:
  // Of a collective whose rounds depend on the sites of the members (needs_sites()) only for these sites.
  ExchangeWalk(const Collective& collective, const GroupExchange& exchange);

  struct Times {
    double last_s = 0, mean_s = 0;  // until the last member is done; the mean over members
  };
  // `site_of`: by member.
  Times times(const std::vector<int>& site_of, const SitePaths& paths);
  // Where every message meets the same.
  Times times(const SitePath& path);

  std::int64_t messages() const { return static_cast<std::int64_t>(messages_.size()); }

 private:
  // Times are kept in slots: of each entry of a member into a round, and of each arrival.
  struct TimedMessage {
    int from = 0, to = 0;
    double bytes = 0;
    int sender = 0, receiver = -1;  // slots of the entries that it waits for
    int before = -1;                // slot of the arrival of the one before, of the same two
    int arrival = 0;
  };
  struct Entry {
    int slot = 0;
    std::size_t first = 0, end = 0;  // of awaited_
  };
  struct Step {
    bool is_message = false;
    int number = 0;
  };
  struct Member {
    int round = -1;
    std::vector<int> entries;            // slots, by round
    std::vector<int> sent;               // arrivals of what it sent in its round
    std::vector<std::vector<int>> from;  // arrivals by peer
    std::vector<std::size_t> taken;      // of them, by peer
  };
  struct Held {
    int from, to;
    double bytes;
    int sender, round;
  };

  // The arrivals that the member has to have for its round are added to `awaited`. False: one has no slot.
  bool take(const Round& round, Member& member, std::vector<int>& awaited) const;
  bool advance(const Collective& collective, const GroupExchange& exchange, int index);
  void enter(const Collective& collective, const GroupExchange& exchange, int index,
             const std::vector<int>& awaited);
  void send(const Held& message, int receiver_slot);
  template <typename PathOf>
  Times walk(const PathOf& path_of);

  int rounds_ = 0;
  std::vector<TimedMessage> messages_;
  std::vector<Entry> entries_;
  std::vector<int> awaited_;  // slots
  std::vector<Step> steps_;   // so that what one needs stands before it
  std::vector<int> done_;     // slots, by member
  std::vector<double> time_;  // by slot
  // While it is worked out.
  std::vector<Member> members_;
  std::vector<std::vector<Held>> held_;  // by receiver
  int slots_ = 0;
};

}  // namespace longhaul
