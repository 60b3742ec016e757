#include "net/linux/receiver.h"

#include <algorithm>

#include "net/linux/congestion_control.h"

namespace longhaul::linux_tcp {
namespace {

constexpr int kMostQuick = 16;                      // TCP_MAX_QUICKACKS
constexpr Nanoseconds kDelay = 40 * kMillisecond;   // TCP_ATO_MIN
constexpr int kMostHeld = 44;                       // net.ipv4.tcp_comp_sack_nr
constexpr Nanoseconds kMostHeldFor = kMillisecond;  // net.ipv4.tcp_comp_sack_delay_ns
constexpr int kDuplicatesAtOnce = 3;
// What a window may grow to before anything is measured: 131072 bytes of tcp_rmem, of which a segment's
// buffer holds two thirds of payload.
constexpr std::int64_t kFirstBound = 131072 * 2 / 3;

}  // namespace

Receiver::Receiver(int segment, Nanoseconds rtt, Nanoseconds phase_ns, std::int64_t window_limit,
                   AckOutput& output)
    : segment_(segment),
      phase_ns_(phase_ns),
      window_limit_(window_limit),
      output_(output),
      window_(std::min<std::int64_t>(std::int64_t{kInitialReceiveWindow} * segment, window_limit)),
      bound_(std::min(std::max(kFirstBound, window_), window_limit)),
      rtt_(rtt),
      first_rtt_(rtt),
      read_bytes_(std::int64_t{kInitialWindow} * segment) {
  edge_ = static_cast<std::int32_t>(window_ / segment_);
}

void Receiver::arrived(const Packet& data, Nanoseconds now) {
  if (data.has_cut) echoes_mark_ = false;
  if (data.is_marked && !echoes_mark_) {
    constexpr int kAtOnce = 2;
    quicken(kAtOnce);
    echoes_mark_ = true;
  }
  if (data.number < next_) {  // once more: acknowledged at once (RFC 2883)
    quicken(kMostQuick);
    is_duplicate_ = true;
    acknowledge(now);
    return;
  }
  if (data.number == next_)
    take_in_order(data, now);
  else
    take_out_of_order(data.number, now);
  decide(now);
}

void Receiver::take_in_order(const Packet& data, Nanoseconds now) {
  const bool had_hole = !ahead_.empty();
  ++next_;
  if (had_hole) {
    for (std::size_t i = 0; i < ahead_.size(); ++i)
      if (ahead_[i].begin <= next_) {
        next_ = std::max(next_, ahead_[i].end);
        ahead_.erase(ahead_.begin() + static_cast<std::ptrdiff_t>(i));
        break;  // ranges are apart
      }
    if (ahead_.empty()) is_due_ = true;
  }
  echo_ns_ = data.sent_ns;
  measure_round_trip(data, now);
  note_arrival(now);
  grow_window();
  ends_write_ |= data.ends_write;
  follow_reader(now);
}

void Receiver::take_out_of_order(std::int32_t number, Nanoseconds now) {
  (void)now;
  grow_window();
  Range grown{number, number + 1};
  for (std::size_t i = 0; i < ahead_.size();) {
    const Range& range = ahead_[i];
    if (number >= range.begin && number < range.end) {
      is_duplicate_ = is_due_ = true;
      return;
    }
    if (range.end == grown.begin || range.begin == grown.end) {
      grown = {std::min(grown.begin, range.begin), std::max(grown.end, range.end)};
      ahead_.erase(ahead_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  ahead_.insert(ahead_.begin(), grown);
}

// From an acknowledgement to the segment that echoes it; a smaller one counts at once.
void Receiver::measure_round_trip(const Packet& data, Nanoseconds now) {
  if (data.echo_ns < 0 || data.echo_ns == last_echo_ns_) return;
  last_echo_ns_ = data.echo_ns;
  const Nanoseconds sample = now - data.echo_ns;
  rtt_ = sample < rtt_ ? sample : rtt_ + (sample - rtt_) / 8;
}

// tcp_rcv_space_adjust: room for twice of what was read in a round trip, and for its growth.
void Receiver::follow_reader(Nanoseconds now) {
  if (now - read_ns_ < rtt_) return;
  const std::int64_t bytes = std::int64_t{next_ - read_from_} * segment_;
  if (bytes > read_bytes_) {
    const std::int64_t twice = 2 * bytes;
    const double growth = static_cast<double>(bytes - read_bytes_) / static_cast<double>(read_bytes_);
    const auto grown = twice + 2 * static_cast<std::int64_t>(static_cast<double>(twice) * growth);
    bound_ = std::clamp(grown, bound_, std::max(bound_, window_limit_));
    read_bytes_ = bytes;
  }
  read_from_ = next_;
  read_ns_ = now;
}

// tcp_event_data_recv.
void Receiver::note_arrival(Nanoseconds now) {
  const Nanoseconds pause = now - last_ns_;
  if (!has_begun_) {
    has_begun_ = true;
    quicken(kMostQuick);
    delay_ = kDelay;
  } else if (pause <= kDelay / 2) {
    delay_ = delay_ / 2 + kDelay / 2;
  } else if (pause < delay_) {
    delay_ = delay_ / 2 + pause;
  } else if (pause > first_rtt_ + std::max(2 * first_rtt_, 200 * kMillisecond)) {
    quicken(kMostQuick);
  }
  last_ns_ = now;
}

void Receiver::quicken(int most) {
  const auto half = static_cast<int>(std::max<std::int64_t>(window_ / (2 * segment_), 2));
  quick_ = std::max(quick_, std::min(half, most));
}

void Receiver::grow_window() {
  if (window_ >= bound_) return;
  window_ = std::min(bound_, window_ + 2 * segment_);
  quick_ = std::max(quick_, 1);
}

// __tcp_ack_snd_check, and what reading adds.
void Receiver::decide(Nanoseconds now) {
  const bool has_read_end = ends_write_ && ahead_.empty();
  if (next_ - acknowledged_ > 1 || quick_ > 0 || is_due_ || has_read_end)
    acknowledge(now);
  else if (ahead_.empty())
    delay(now);
  else
    compress(now);
}

void Receiver::delay(Nanoseconds now) {
  if (next_ == acknowledged_) return;
  delayed_ns_ = std::min(delayed_ns_, wheel_expiry(now, std::min(delay_, kDelay), phase_ns_));
}

void Receiver::compress(Nanoseconds now) {
  if (held_ >= kMostHeld) return acknowledge(now);
  if (held_next_ != next_) {
    held_next_ = next_;
    at_once_ = 0;
  }
  if (at_once_ < kDuplicatesAtOnce) {
    ++at_once_;
    return acknowledge(now);
  }
  ++held_;
  if (compressed_ns_ == kNever) compressed_ns_ = now + std::min(kMostHeldFor, rtt_ / 20);
}

void Receiver::timer_fired(Nanoseconds now) {
  if (compressed_ns_ <= now) {
    compressed_ns_ = kNever;
    if (held_ > 0) acknowledge(now);
    return;
  }
  delayed_ns_ = kNever;
  if (next_ > acknowledged_) {
    delay_ = kDelay;
    acknowledge(now);
  }
}

void Receiver::acknowledge(Nanoseconds now) {
  Packet ack;
  ack.is_ack = true;
  ack.number = next_;
  edge_ = std::max(edge_, next_ + static_cast<std::int32_t>(window_ / segment_));
  ack.edge = edge_;
  ack.echo_ns = echo_ns_;
  ack.sent_ns = now;
  ack.is_duplicate = is_duplicate_;
  ack.is_marked = echoes_mark_;
  ack.sack_count =
      std::min<std::size_t>(ahead_.size(), is_duplicate_ ? kSackRanges - 1 : kSackRanges) & 3;  // of two bits
  std::copy_n(ahead_.begin(), ack.sack_count, ack.sacks.begin());
  if (quick_ > 0 && --quick_ == 0) delay_ = kDelay;
  acknowledged_ = next_;
  is_due_ = is_duplicate_ = ends_write_ = false;
  held_ = 0;
  delayed_ns_ = compressed_ns_ = kNever;
  output_.acknowledge(ack, now);
}

}  // namespace longhaul::linux_tcp
