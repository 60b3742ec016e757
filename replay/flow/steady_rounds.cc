#include "replay/flow/steady_rounds.h"

#include <utility>

namespace longhaul {

bool SteadyRounds::note(EqualRound round) {
  if (!is_alone(round)) return false;
  noted_ = std::move(round);
  return true;
}

// Nothing else is under way, nor ever was.
bool SteadyRounds::is_alone(const EqualRound& round) {
  bool is_alone = channels_.size() == round.transfers;
  for (int i = channels_.first(); is_alone && i < channels_.end(); ++i)
    is_alone = channels_[i].channel.transfers() == 1 && channels_[i].travelling.empty();
  return is_alone;
}

// Acknowledgements are counted by round trips, which may take two rounds: so the state of every other round
// is compared.
void SteadyRounds::follow(std::int64_t now_ns) {
  const EqualRound round = *std::exchange(noted_, std::nullopt);
  if (!is_alone(round)) return moments_.clear();
  if (!round.is_next) moments_.clear();
  moments_.push_back(present(now_ns));
  if (moments_.size() < 3) return;
  const Moment& before = moments_.front();
  if (round.left > 1 && before.state == moments_.back().state && !clock_.has_actions() &&
      loads_.repeats(before.loads, seconds_of(now_ns - before.time_ns)))
    skip(round);
  moments_.pop_front();
}

SteadyRounds::Moment SteadyRounds::present(std::int64_t now_ns) {
  Moment present{now_ns, {}, loads_, clock_.events()};
  for (int i = channels_.first(); i < channels_.end(); ++i) {
    ChannelTable::Slot& slot = channels_[i];
    for (const std::int64_t time_ns : {slot.planned_ns, slot.event_ns})
      present.state.push_back(time_ns == InstantQueue::kNever ? -1 : seconds_of(time_ns - now_ns));
    present.state.push_back(static_cast<double>(slot.tail_bytes));
    slot.channel.rebase_time(channel_s(now_ns));
    slot.channel.list_state(present.state);
  }
  origin_ns_ = now_ns;
  shares_.list_state(present.state);
  events_.list_state(now_ns, present.state);
  return present;
}

void SteadyRounds::skip(const EqualRound& round) {
  const Moment& before = moments_.front();
  const Moment& present = moments_.back();
  const int periods = round.left / 2;
  const std::int64_t passed_ns = periods * (present.time_ns - before.time_ns);
  origin_ns_ += passed_ns;
  for (int i = channels_.first(); i < channels_.end(); ++i)
    for (std::int64_t* time_ns :
         {&channels_[i].planned_ns, &channels_[i].event_ns, &channels_[i].latest_arrival_ns})
      if (*time_ns != InstantQueue::kNever) *time_ns += passed_ns;
  events_.move(passed_ns);
  loads_.repeat(before.loads, periods, seconds_of(passed_ns));
  clock_.skip_events(as_index(periods) * (present.events - before.events));
  round.skip(2 * periods);
}

}  // namespace longhaul
