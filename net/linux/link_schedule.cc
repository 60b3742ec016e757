#include "net/linux/link_schedule.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul::linux_tcp {
namespace {

// A packet takes some time to another host, whatever a trace says: hosts are run one after the other in it.
constexpr Nanoseconds kLeastDelay = kMicrosecond;

}  // namespace

LinkSchedule::LinkSchedule(std::unique_ptr<Variation> variation)
    : variation_(std::move(variation)), stretches_(variation_->rates().size()) {
  for (std::size_t i = 0; i < stretches_.size(); ++i) note(static_cast<LinkDirection>(i), 0);
}

void LinkSchedule::note(LinkDirection direction, Nanoseconds begin) {
  const std::size_t i = as_index(direction);
  const auto delay = static_cast<Nanoseconds>(std::llround(1e9 * variation_->delays_s()[i]));
  stretches_[i].push_back(
      {begin, variation_->capacities()[i], std::max(delay, kLeastDelay), variation_->losses()[i]});
}

void LinkSchedule::look_ahead(Nanoseconds time) {
  while (known_ < time) {
    const Nanoseconds next = variation_->next_change_ns();
    if (next == kNever || next > time) {
      known_ = next == kNever ? kNever : time;
      return;
    }
    variation_->advance_to(next);
    for (const LinkDirection direction : variation_->changed()) note(direction, next);
    known_ = next;
  }
}

void LinkSchedule::forget_before(Nanoseconds time) {
  if (time - forgotten_ < 1000 * kMillisecond) return;
  forgotten_ = time;
  if (time > known_) {  // nobody asked what was in between
    variation_->advance_to(time);
    for (const LinkDirection direction : variation_->changed()) note(direction, time);
    known_ = time;
  }
  for (std::deque<Stretch>& own : stretches_)
    while (own.size() > 1 && own[1].begin <= time) own.pop_front();
}

// Of its stretches, the one that holds at a time.
std::size_t LinkSchedule::find(LinkDirection direction, Nanoseconds time) {
  look_ahead(time);
  const std::deque<Stretch>& own = stretches_[as_index(direction)];
  std::size_t i = own.size() - 1;
  while (i > 0 && own[i].begin > time) --i;
  return i;
}

const LinkSchedule::Stretch& LinkSchedule::at(LinkDirection direction, Nanoseconds time) {
  const std::size_t i = find(direction, time);
  return stretches_[as_index(direction)][i];
}

// Until the last stretch that is known is over, or for ever. Links whose outages take turns may end ten
// thousand of them and leave this one as it is; that is an outage without end.
void LinkSchedule::look_past(LinkDirection direction) {
  constexpr int kMostEndsInVain = 10000;
  const std::size_t count = stretches_[as_index(direction)].size();
  for (int ends = 0; ends < kMostEndsInVain && stretches_[as_index(direction)].size() == count; ++ends) {
    const Nanoseconds end = variation_->next_outage_end_ns();
    if (end == kNever) return;
    look_ahead(end);
  }
}

double LinkSchedule::finish(LinkDirection direction, double begin, std::int32_t bytes) {
  const std::deque<Stretch>& own = stretches_[as_index(direction)];
  std::size_t i = find(direction, static_cast<Nanoseconds>(begin));
  double left = 8e9 * bytes;
  for (double from = begin;; ++i) {
    const double rate = own[i].rate;
    if (rate > 0) {
      const double last = from + (std::isfinite(rate) ? left / rate : 0);
      look_ahead(static_cast<Nanoseconds>(last) + 1);
      if (i + 1 == own.size() || last <= static_cast<double>(own[i + 1].begin)) return last;
    } else if (i + 1 == own.size()) {
      look_past(direction);
      if (i + 1 == own.size())
        throw RunError(fmt::format(
            "link {} carries nothing from {:.3f} s on, for good: what is sent over it never arrives",
            variation_->topology().link(direction / 2).name, static_cast<double>(own[i].begin) / 1e9));
    }
    const auto end = static_cast<double>(own[i + 1].begin);
    left -= rate * (end - from);
    from = end;
  }
}

Nanoseconds LinkSchedule::least_delay(LinkDirection direction, Nanoseconds begin, Nanoseconds end) {
  look_ahead(end);
  const std::deque<Stretch>& own = stretches_[as_index(direction)];
  Nanoseconds least = kNever;
  for (std::size_t i = find(direction, begin); i < own.size() && own[i].begin <= end; ++i)
    least = std::min(least, own[i].delay);
  return least;
}

}  // namespace longhaul::linux_tcp
