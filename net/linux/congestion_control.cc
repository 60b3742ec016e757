#include "net/linux/congestion_control.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "net/linux/bbr.h"

namespace longhaul::linux_tcp {
namespace {

// What of `count` slow start does not use (RFC 5681; a window doubles in a round trip).
int slow_start(WindowState& state, int count) {
  const int window = std::min(state.window + count, state.threshold);
  const int left = count - (window - state.window);
  state.window = window;
  return left;
}

// A segment more for each `per_segment` delivered.
void additive_increase(WindowState& state, int per_segment, int count) {
  if (state.counter >= per_segment) {
    state.counter = 0;
    ++state.window;
  }
  state.counter += count;
  if (state.counter >= per_segment) {
    state.window += state.counter / per_segment;
    state.counter %= per_segment;
  }
}

// Linux's Reno (RFC 5681; net/ipv4/tcp_cong.c, 6.18).
class Reno : public CongestionControl {
 public:
  void sample(WindowState&, Nanoseconds, Nanoseconds, std::int64_t) override {}
  void grow(WindowState& state, int count, std::int64_t) override {
    if (state.in_slow_start()) count = slow_start(state, count);
    if (count > 0) additive_increase(state, state.window, count);
  }
  int threshold_after_loss(const WindowState& state) override { return std::max(state.window / 2, 2); }
  void timed_out(const WindowState&) override {}
  void restarted(std::int64_t, std::int64_t) override {}
};

// CUBIC (RFC 9438, Linux's constants: C 0.4, β 717/1024, fast convergence, Reno's region) with HyStart (Ha
// and Rhee 2011) as net/ipv4/tcp_cubic.c of 6.18 has both.
class Cubic : public CongestionControl {
 public:
  void sample(WindowState& state, Nanoseconds rtt, Nanoseconds now, std::int64_t jiffies) override {
    constexpr std::int64_t kSecond = 1000 * kMillisecond / kJiffy;
    if (has_epoch_ && jiffies - epoch_ < kSecond) return;  // queues just drained
    const Nanoseconds delay = std::max(rtt, kMicrosecond);
    if (least_delay_ == 0 || delay < least_delay_) least_delay_ = delay;
    if (!has_left_slow_start_ && state.in_slow_start()) look_for_exit(state, delay, now);
  }

  void grow(WindowState& state, int count, std::int64_t jiffies) override {
    if (state.in_slow_start()) count = slow_start(state, count);
    if (count == 0) return;
    follow_curve(state, count, jiffies);
    additive_increase(state, per_segment_, count);
  }

  int threshold_after_loss(const WindowState& state) override {
    has_epoch_ = false;
    const bool converges = state.window < largest_;
    largest_ = converges ? state.window * (1024 + kBeta) / 2048 : state.window;
    return std::max(state.window * kBeta / 1024, 2);
  }

  void timed_out(const WindowState&) override { *this = {}; }

  // The curve does not move while nothing is sent.
  void restarted(std::int64_t idle_jiffies, std::int64_t jiffies) override {
    if (has_epoch_ && idle_jiffies > 0) epoch_ = std::min(epoch_ + idle_jiffies, jiffies);
  }

 private:
  static constexpr int kBeta = 717;

  void look_for_exit(WindowState& state, Nanoseconds delay, Nanoseconds now) {
    if (state.acknowledged > round_end_) {
      round_end_ = state.next;
      round_begin_ = train_ = now;
      round_delay_ = kNever;
      samples_ = 0;
    }
    constexpr int kLowWindow = 16;
    if (state.window < kLowWindow) return;
    // An acknowledgement train as long as half of the smallest round trip, a millisecond more allowed for.
    if (now - train_ <= 2 * kMillisecond) {
      train_ = now;
      Nanoseconds longest = least_delay_ + kMillisecond;
      if (!state.is_paced) longest /= 2;
      if (now - round_begin_ > longest) leave_slow_start(state);
    }
    // Eight samples of a round that are all later than the smallest by an eighth, 4 to 16 ms.
    constexpr int kSamples = 8;
    round_delay_ = std::min(round_delay_, delay);
    if (samples_ < kSamples)
      ++samples_;
    else if (round_delay_ > least_delay_ + std::clamp(least_delay_ / 8, 4 * kMillisecond, 16 * kMillisecond))
      leave_slow_start(state);
  }

  void leave_slow_start(WindowState& state) {
    has_left_slow_start_ = true;
    state.threshold = state.window;
  }

  void follow_curve(const WindowState& state, int count, std::int64_t jiffies) {
    constexpr std::int64_t kThirtieth = 1000 * kMillisecond / kJiffy / 32;
    acknowledged_ += count;
    if (last_window_ == state.window && jiffies - last_jiffies_ <= kThirtieth) return;
    if (!has_epoch_ || jiffies != last_jiffies_) {
      last_window_ = state.window;
      last_jiffies_ = jiffies;
      if (!has_epoch_) begin_epoch(state, count, jiffies);
      const double t = static_cast<double>((jiffies - epoch_) * kJiffy + least_delay_) / 1e9;
      const double target = origin_ + 0.4 * std::pow(t - k_s_, 3);
      const double above = std::trunc(target) - state.window;
      per_segment_ = above > 0 ? static_cast<int>(state.window / above) : 100 * state.window;
      if (largest_ == 0) per_segment_ = std::min(per_segment_, 20);
    }
    // What Reno would have: 3 (1 − β) / (1 + β) of a segment a round trip, 8/15.
    const int per_reno_segment = state.window * 15 / 8;
    while (acknowledged_ > per_reno_segment) {
      acknowledged_ -= per_reno_segment;
      ++reno_window_;
    }
    if (reno_window_ > state.window)
      per_segment_ = std::min(per_segment_, state.window / (reno_window_ - state.window));
    per_segment_ = std::max(per_segment_, 2);
  }

  void begin_epoch(const WindowState& state, int count, std::int64_t jiffies) {
    has_epoch_ = true;
    epoch_ = jiffies;
    acknowledged_ = count;
    reno_window_ = state.window;
    const bool is_beyond = largest_ <= state.window;
    k_s_ = is_beyond ? 0 : std::cbrt((largest_ - state.window) / 0.4);
    origin_ = is_beyond ? state.window : largest_;
  }

  int largest_ = 0;  // W_max
  int last_window_ = 0, per_segment_ = 0, reno_window_ = 0, acknowledged_ = 0;
  std::int64_t epoch_ = 0, last_jiffies_ = 0;
  bool has_epoch_ = false, has_left_slow_start_ = false;
  double k_s_ = 0, origin_ = 0;
  Nanoseconds least_delay_ = 0;
  // HyStart's round.
  std::int32_t round_end_ = 0;
  Nanoseconds round_begin_ = 0, train_ = 0, round_delay_ = kNever;
  int samples_ = 0;
};

}  // namespace

std::unique_ptr<CongestionControl> make_congestion_control(const ControlFacts& facts, WindowState& state,
                                                           DeliveryRate& rate) {
  if (facts.name == "cubic") return std::make_unique<Cubic>();
  if (facts.name == "reno") return std::make_unique<Reno>();
  if (facts.name == "bbr") {
    constexpr std::uint32_t kPhases = 3;
    const RandomStream phases(facts.seed, Purpose::kHostNoise, static_cast<std::uint32_t>(facts.connection),
                              kPhases);
    return std::make_unique<Bbr>(facts.segment, facts.rtt, state, rate, phases);
  }
  throw InputError("network.tcp.congestion_control", "found \"" + facts.name + "\" with fidelity \"linux\"",
                   "cubic, reno, bbr");
}

}  // namespace longhaul::linux_tcp
