// The rounds of a ring that a flow network passes over (Network::note_equal_round). When the network is in
// the state of two rounds before, and nothing else is under way or planned, an even number of those that are
// left would go alike: all times move by as many, and what came since is counted as often.
//
// The slow reference is the same network with its rounds one by one (tests/unit/sim/equal_rounds_test.cc).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "net/sharing/fair_shares.h"
#include "replay/flow/channel_table.h"
#include "replay/flow/flow_clock.h"
#include "replay/flow/instant_queue.h"
#include "replay/network/network.h"

namespace longhaul {

class SteadyRounds {
 public:
  // They must outlive it.
  SteadyRounds(FlowClock& clock, ChannelTable& channels, FairShares& shares, InstantQueue& events,
               LinkLoads& loads)
      : clock_(clock), channels_(channels), shares_(shares), events_(events), loads_(loads) {}

  // A round began in this instant. False: others have channels beside it, or had.
  bool note(EqualRound round);
  // What begins with a noted round is to be worked on in the order of its numbers: rounding is the same in
  // each then.
  bool has_noted() const { return noted_.has_value(); }
  // Behind all else of the instant of a noted round.
  void follow(std::int64_t now_ns);
  // A channel's time, seconds: it begins anew with each noted round.
  double channel_s(std::int64_t time_ns) const { return seconds_of(time_ns - origin_ns_); }

 private:
  // The end of the instant in which a round began.
  struct Moment {
    std::int64_t time_ns = 0;
    std::vector<double> state;
    LinkLoads loads;
    std::uint64_t events = 0;
  };

  bool is_alone(const EqualRound& round);
  Moment present(std::int64_t now_ns);
  void skip(const EqualRound& round);

  FlowClock& clock_;
  ChannelTable& channels_;
  FairShares& shares_;
  InstantQueue& events_;
  LinkLoads& loads_;
  std::optional<EqualRound> noted_;
  std::deque<Moment> moments_;  // of the rounds before it, at most two
  std::int64_t origin_ns_ = 0;
};

}  // namespace longhaul
