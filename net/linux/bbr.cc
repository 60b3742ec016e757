#include "net/linux/bbr.h"

#include <algorithm>
#include <cstdlib>

namespace longhaul::linux_tcp {
namespace {

constexpr int kScale = 24;  // of bandwidths
constexpr std::uint64_t kUnit = std::uint64_t{1} << kScale;
constexpr int kOne = 256;  // of gains
constexpr int kHighGain = 739, kDrainGain = 88, kWindowGain = 2 * kOne;
constexpr std::array<int, 8> kCycle = {320, 192, kOne, kOne, kOne, kOne, kOne, kOne};
constexpr std::uint32_t kBandwidthRounds = 10;
constexpr int kLeastWindow = 4;
constexpr int kFullRounds = 3;
constexpr std::int64_t kSecond = 1000 * kMillisecond / kJiffy;  // jiffies
constexpr std::int64_t kRoundTripWindow = 10 * kSecond, kProbe = kSecond / 5;
// Policers: an interval of 4 to 16 round trips with a fifth lost; two of one rate, to 1/8 or 4 kbit/s.
constexpr int kLeastRounds = 4, kMostRounds = 16, kPolicedRounds = 48;
// What bunches of acknowledgements may add to the window.
constexpr int kExtraRounds = 5;
constexpr std::uint64_t kMostExtra_us = 100000;

}  // namespace

Bbr::Bbr(int segment, Nanoseconds rtt, WindowState& state, DeliveryRate& rate, const RandomStream& phases)
    : segment_(segment),
      rate_(rate),
      phases_(phases),
      pacing_gain_(kHighGain),
      window_gain_(kHighGain),
      largest_(kBandwidthRounds),
      round_end_(rate.delivered()),
      least_rtt_us_(std::max<std::int64_t>(rtt / kMicrosecond, 1)) {
  const auto window = static_cast<std::uint64_t>(state.window);
  state.pacing_rate = pace_of(window * kUnit / static_cast<std::uint64_t>(least_rtt_us_), kHighGain);
}

void Bbr::acknowledged(WindowState& state, const RateSample& sample, Nanoseconds now, std::int64_t jiffies) {
  take_bandwidth(state, sample);
  take_aggregation(state, sample);
  cycle(state, sample, now);
  check_full_pipe(sample);
  check_drain(state, now);
  take_round_trip(state, sample, jiffies);
  set_gains();
  set_pace(state, bandwidth(), pacing_gain_);
  set_window(state, sample, bandwidth());
}

void Bbr::take_bandwidth(const WindowState& state, const RateSample& sample) {
  is_round_start_ = false;
  if (sample.delivered < 0 || sample.interval < kMicrosecond) return;
  if (sample.prior_delivered >= round_end_) {
    round_end_ = rate_.delivered();
    ++rounds_;
    is_round_start_ = true;
    conserves_ = false;
  }
  watch_for_policer(state, sample.newly_lost > 0, sample.is_app_limited);
  const Bandwidth bandwidth = static_cast<std::uint64_t>(sample.delivered) * kUnit /
                              static_cast<std::uint64_t>(sample.interval / kMicrosecond);
  // What the application limited says only that the path carries as much.
  if (!sample.is_app_limited || bandwidth >= largest_.get()) largest_.add(rounds_, bandwidth);
}

void Bbr::take_aggregation(const WindowState& state, const RateSample& sample) {
  if (sample.newly_delivered <= 0 || sample.delivered < 0 || sample.interval < kMicrosecond) return;
  if (is_round_start_ && ++extra_rounds_ >= kExtraRounds) {
    extra_rounds_ = 0;
    extra_index_ = 1 - extra_index_;
    extra_[static_cast<std::size_t>(extra_index_)] = 0;
  }
  constexpr std::int64_t kMostInEpoch = 1 << 20;
  const auto epoch_us = static_cast<std::uint64_t>((rate_.delivered_ns() - epoch_ns_) / kMicrosecond);
  auto expected = static_cast<std::int64_t>(bandwidth() * epoch_us / kUnit);
  if (epoch_delivered_ <= expected || epoch_delivered_ + sample.newly_delivered >= kMostInEpoch) {
    epoch_delivered_ = 0;
    epoch_ns_ = rate_.delivered_ns();
    expected = 0;
  }
  epoch_delivered_ = std::min(kMostInEpoch - 1, epoch_delivered_ + sample.newly_delivered);
  const auto extra = static_cast<int>(std::min<std::int64_t>(epoch_delivered_ - expected, state.window));
  int& most = extra_[static_cast<std::size_t>(extra_index_)];
  most = std::max(most, extra);
}

void Bbr::cycle(const WindowState& state, const RateSample& sample, Nanoseconds now) {
  if (mode_ != Mode::kProbeBandwidth) return;
  const bool is_full = rate_.delivered_ns() - phase_began_ns_ > least_rtt_us_ * kMicrosecond;
  bool is_over = is_full;
  if (pacing_gain_ != kOne) {
    const int in_flight = in_flight_when_next_leaves(state, sample.prior_in_flight, now);
    // More in flight may take longer than a round trip, and less a shorter time.
    is_over = pacing_gain_ > kOne
                  ? is_full && (sample.newly_lost > 0 || in_flight >= in_flight_target(state, pacing_gain_))
                  : is_full || in_flight <= in_flight_target(state, kOne);
  }
  if (!is_over) return;
  phase_ = (phase_ + 1) % static_cast<int>(kCycle.size());
  phase_began_ns_ = rate_.delivered_ns();
}

void Bbr::check_full_pipe(const RateSample& sample) {
  if (is_pipe_full_ || !is_round_start_ || sample.is_app_limited) return;
  if (largest_.get() >= full_bandwidth_ * 5 / 4) {
    full_bandwidth_ = largest_.get();
    full_rounds_ = 0;
    return;
  }
  is_pipe_full_ = ++full_rounds_ >= kFullRounds;
}

void Bbr::check_drain(WindowState& state, Nanoseconds now) {
  if (mode_ == Mode::kStartUp && is_pipe_full_) {
    mode_ = Mode::kDrain;
    state.threshold = in_flight_target(state, kOne);
  }
  if (mode_ == Mode::kDrain &&
      in_flight_when_next_leaves(state, state.in_flight, now) <= in_flight_target(state, kOne))
    begin_cycles();
}

// Any phase but that which drains.
void Bbr::begin_cycles() {
  mode_ = Mode::kProbeBandwidth;
  constexpr int kPhases = static_cast<int>(kCycle.size());
  phase_ = (kPhases - static_cast<int>(phases_.below(kPhases - 1))) % kPhases;
  phase_began_ns_ = rate_.delivered_ns();
}

void Bbr::take_round_trip(WindowState& state, const RateSample& sample, std::int64_t jiffies) {
  const bool is_old = jiffies > least_rtt_jiffies_ + kRoundTripWindow;
  if (sample.rtt >= 0) {
    const std::int64_t rtt_us = sample.rtt / kMicrosecond;
    if (rtt_us < least_rtt_us_ || (is_old && !sample.is_ack_delayed)) {
      least_rtt_us_ = rtt_us;
      least_rtt_jiffies_ = jiffies;
    }
  }
  if (is_old && !is_restarting_ && mode_ != Mode::kProbeRoundTrip) {
    save_window(state);
    mode_ = Mode::kProbeRoundTrip;
    probe_until_jiffies_ = 0;
  }
  if (mode_ == Mode::kProbeRoundTrip) {
    rate_.limit(state.in_flight);
    if (probe_until_jiffies_ == 0 && state.in_flight <= kLeastWindow) {
      probe_until_jiffies_ = jiffies + kProbe;
      has_probed_round_ = false;
      round_end_ = rate_.delivered();
    } else if (probe_until_jiffies_ > 0) {
      has_probed_round_ |= is_round_start_;
      if (has_probed_round_) end_probe_if_due(state, jiffies);
    }
  }
  if (sample.delivered > 0) is_restarting_ = false;
}

void Bbr::end_probe_if_due(WindowState& state, std::int64_t jiffies) {
  if (probe_until_jiffies_ == 0 || jiffies <= probe_until_jiffies_) return;
  least_rtt_jiffies_ = jiffies;
  state.window = std::max(state.window, saved_window_);
  leave_probe();
}

void Bbr::leave_probe() {
  if (is_pipe_full_)
    begin_cycles();
  else
    mode_ = Mode::kStartUp;
}

void Bbr::set_gains() {
  switch (mode_) {
    case Mode::kStartUp:
      pacing_gain_ = window_gain_ = kHighGain;
      return;
    case Mode::kDrain:
      pacing_gain_ = kDrainGain;
      window_gain_ = kHighGain;
      return;
    case Mode::kProbeBandwidth:
      pacing_gain_ = is_policed_ ? kOne : kCycle[static_cast<std::size_t>(phase_)];
      window_gain_ = kWindowGain;
      return;
    case Mode::kProbeRoundTrip:
      pacing_gain_ = window_gain_ = kOne;
      return;
  }
}

// A per cent less than the bandwidth, so that no queue stays.
double Bbr::pace_of(Bandwidth bandwidth, int gain) const {
  constexpr double kMargin = 0.99;
  return kMargin * 1e6 * static_cast<double>(bandwidth) / static_cast<double>(kUnit) * segment_ * gain / kOne;
}

// While the pipe is not known to be full it only rises.
void Bbr::set_pace(WindowState& state, Bandwidth bandwidth, int gain) {
  const double pace = pace_of(bandwidth, gain);
  if (is_pipe_full_ || pace > state.pacing_rate) state.pacing_rate = pace;
}

int Bbr::product(Bandwidth bandwidth, int gain) const {
  const std::uint64_t scaled =
      bandwidth * static_cast<std::uint64_t>(least_rtt_us_) * static_cast<std::uint64_t>(gain) / kOne;
  return static_cast<int>((scaled + kUnit - 1) / kUnit);
}

// Segments that the kernel puts into one buffer at this pace: a millisecond of them.
int Bbr::burst(const WindowState& state) const {
  constexpr double kLowPace = 1.2e6 / 8;
  constexpr int kMostBytes = 65536 - 1 - 320, kMostSegments = 127;
  const int least = state.pacing_rate < kLowPace ? 1 : 2;
  const auto bytes = static_cast<int>(std::min<double>(state.pacing_rate / 1024, kMostBytes));
  return std::min(std::max(bytes / segment_, least), kMostSegments);
}

// Three bursts, an even number, and two segments for the phase that looks for more.
int Bbr::with_room_for_bursts(const WindowState& state, int window) const {
  window += 3 * burst(state);
  window += window % 2;
  return mode_ == Mode::kProbeBandwidth && phase_ == 0 ? window + 2 : window;
}

int Bbr::in_flight_target(const WindowState& state, int gain) const {
  return with_room_for_bursts(state, product(largest_.get(), gain));
}

int Bbr::in_flight_when_next_leaves(const WindowState& state, int in_flight, Nanoseconds now) const {
  const auto wait_us =
      static_cast<std::uint64_t>(std::max<Nanoseconds>(0, state.departure_ns - now) / kMicrosecond);
  const auto delivered = static_cast<int>(bandwidth() * wait_us / kUnit);
  if (pacing_gain_ > kOne) in_flight += burst(state);
  return std::max(0, in_flight - delivered);
}

int Bbr::aggregation_room() const {
  if (!is_pipe_full_) return 0;
  return std::min(std::max(extra_[0], extra_[1]), static_cast<int>(bandwidth() * kMostExtra_us / kUnit));
}

void Bbr::set_window(WindowState& state, const RateSample& sample, Bandwidth bandwidth) {
  const int count = sample.newly_delivered;
  if (count > 0) {
    int window = state.window;
    if (!conserves(state, sample, window)) {
      const int target = with_room_for_bursts(state, product(bandwidth, window_gain_) + aggregation_room());
      if (is_pipe_full_)
        window = std::min(window + count, target);
      else if (window < target || rate_.delivered() < kInitialWindow)
        window += count;
      window = std::max(window, kLeastWindow);
    }
    state.window = window;
  }
  if (mode_ == Mode::kProbeRoundTrip) state.window = std::min(state.window, kLeastWindow);
}

// In the first round trip of recovery as much leaves as arrives; behind it the old window comes back.
bool Bbr::conserves(const WindowState& state, const RateSample& sample, int& window) {
  if (sample.newly_lost > 0) window = std::max(window - sample.newly_lost, 1);
  const bool is_new = state.repair == Repair::kRecovery && repair_before_ != Repair::kRecovery;
  if (is_new) {
    conserves_ = true;
    round_end_ = rate_.delivered();
    window = state.in_flight + sample.newly_delivered;
  } else if (repair_before_ != Repair::kNone && state.repair == Repair::kNone) {
    conserves_ = false;
    window = std::max(window, saved_window_);
  }
  repair_before_ = state.repair;
  if (conserves_) window = std::max(window, state.in_flight + sample.newly_delivered);
  return conserves_;
}

void Bbr::save_window(const WindowState& state) {
  const bool is_whole = repair_before_ == Repair::kNone && mode_ != Mode::kProbeRoundTrip;
  saved_window_ = is_whole ? state.window : std::max(saved_window_, state.window);
}

int Bbr::threshold_after_loss(const WindowState& state) {
  save_window(state);
  return state.threshold;
}

void Bbr::timed_out(const WindowState& state) {
  repair_before_ = Repair::kLoss;
  full_bandwidth_ = 0;
  is_round_start_ = true;
  watch_for_policer(state, true, false);
}

int Bbr::window_after_undo(const WindowState& state, int) {
  full_bandwidth_ = 0;
  full_rounds_ = 0;
  forget_policer(state);
  return state.window;
}

// The application had nothing to send: it continues at the bandwidth, no faster.
void Bbr::begins(WindowState& state, Nanoseconds now, std::int64_t jiffies) {
  if (!rate_.is_app_limited()) return;
  is_restarting_ = true;
  epoch_ns_ = now;
  epoch_delivered_ = 0;
  if (mode_ == Mode::kProbeBandwidth)
    set_pace(state, bandwidth(), kOne);
  else if (mode_ == Mode::kProbeRoundTrip)
    end_probe_if_due(state, jiffies);
}

void Bbr::watch_for_policer(const WindowState& state, bool has_lost, bool is_app_limited) {
  if (is_policed_) {
    if (mode_ == Mode::kProbeBandwidth && is_round_start_ && ++policer_rounds_ >= kPolicedRounds) {
      forget_policer(state);
      begin_cycles();
    }
    return;
  }
  if (!watches_) {
    if (!has_lost) return;
    begin_policer_interval(state);
    watches_ = true;
  }
  if (is_app_limited) return forget_policer(state);
  if (is_round_start_) ++policer_rounds_;
  if (policer_rounds_ < kLeastRounds) return;
  if (policer_rounds_ > kMostRounds) return forget_policer(state);
  if (!has_lost) return;
  const std::int64_t lost = state.lost - policer_lost_, delivered = rate_.delivered() - policer_delivered_;
  constexpr std::int64_t kLossShare = 50;  // in 1/256
  if (delivered <= 0 || lost * kOne < kLossShare * delivered) return;
  const std::int64_t ms = rate_.delivered_ns() / kMillisecond - policer_ms_;
  if (ms < 1) return;
  end_policer_interval(
      state, static_cast<std::uint64_t>(delivered) * kUnit / (1000 * static_cast<std::uint64_t>(ms)));
}

void Bbr::end_policer_interval(const WindowState& state, Bandwidth bandwidth) {
  constexpr double kSame = 500;  // bytes/s
  const Bandwidth difference = bandwidth > policed_ ? bandwidth - policed_ : policed_ - bandwidth;
  if (policed_ > 0 && (8 * difference <= policed_ || pace_of(difference, kOne) <= kSame)) {
    policed_ = (bandwidth + policed_) / 2;
    is_policed_ = true;
    pacing_gain_ = kOne;
    policer_rounds_ = 0;
    return;
  }
  policed_ = bandwidth;
  begin_policer_interval(state);
}

void Bbr::begin_policer_interval(const WindowState& state) {
  policer_ms_ = rate_.delivered_ns() / kMillisecond;
  policer_delivered_ = rate_.delivered();
  policer_lost_ = state.lost;
  policer_rounds_ = 0;
}

void Bbr::forget_policer(const WindowState& state) {
  policed_ = 0;
  is_policed_ = watches_ = false;
  begin_policer_interval(state);
}

}  // namespace longhaul::linux_tcp
