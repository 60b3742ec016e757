// BBR version 1 of one connection, acknowledgement by acknowledgement (Cardwell et al.,
// draft-cardwell-iccrg-bbr-congestion-control-00; net/ipv4/tcp_bbr.c of Linux 6.18 and its constants, in our
// words). In fluid form, for fidelity `flow`: net/tcp/bbr.h.
//
// It paces at a multiple of the largest delivery rate of ten round trips and keeps at most twice that rate
// times the least round trip in flight. It begins at 2.89 times until three round trips bring less than a
// quarter more, drains its queue at 1/2.89, then cycles through phases of 1.25, 0.75 and six of 1. Every ten
// seconds without a new least round trip it sends four segments a round trip for 200 ms. It does not care
// about losses but for a round trip of packet conservation and a policer, whose rate it takes over.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/random.h"
#include "net/linux/congestion_control.h"
#include "net/linux/delivery_rate.h"
#include "net/linux/running_max.h"

namespace longhaul::linux_tcp {

class Bbr : public CongestionControl {
 public:
  enum class Mode { kStartUp, kDrain, kProbeBandwidth, kProbeRoundTrip };

  // `rtt`: of the handshake. `rate` must outlive it. `phases`: at which phase a cycle begins.
  Bbr(int segment, Nanoseconds rtt, WindowState& state, DeliveryRate& rate, const RandomStream& phases);

  bool has_control() const override { return true; }
  int buffered_windows() const override { return 3; }
  void acknowledged(WindowState& state, const RateSample& sample, Nanoseconds now,
                    std::int64_t jiffies) override;
  void begins(WindowState& state, Nanoseconds now, std::int64_t jiffies) override;
  int threshold_after_loss(const WindowState& state) override;
  void timed_out(const WindowState& state) override;
  int window_after_undo(const WindowState& state, int before) override;
  void sample(WindowState&, Nanoseconds, Nanoseconds, std::int64_t) override {}
  void grow(WindowState&, int, std::int64_t) override {}
  void restarted(std::int64_t, std::int64_t) override {}

  Mode mode() const { return mode_; }

 private:
  // Segments a microsecond, times 2^24.
  using Bandwidth = std::uint64_t;

  void take_bandwidth(const WindowState& state, const RateSample& sample);
  void take_aggregation(const WindowState& state, const RateSample& sample);
  void cycle(const WindowState& state, const RateSample& sample, Nanoseconds now);
  void check_full_pipe(const RateSample& sample);
  void check_drain(WindowState& state, Nanoseconds now);
  void take_round_trip(WindowState& state, const RateSample& sample, std::int64_t jiffies);
  void end_probe_if_due(WindowState& state, std::int64_t jiffies);
  void set_gains();
  void set_pace(WindowState& state, Bandwidth bandwidth, int gain);
  void set_window(WindowState& state, const RateSample& sample, Bandwidth bandwidth);
  bool conserves(const WindowState& state, const RateSample& sample, int& window);
  void save_window(const WindowState& state);
  void begin_cycles();
  void leave_probe();

  // Policers.
  void watch_for_policer(const WindowState& state, bool has_lost, bool is_app_limited);
  void end_policer_interval(const WindowState& state, Bandwidth bandwidth);
  void begin_policer_interval(const WindowState& state);
  void forget_policer(const WindowState& state);

  Bandwidth bandwidth() const { return is_policed_ ? policed_ : largest_.get(); }
  double pace_of(Bandwidth bandwidth, int gain) const;  // bytes/s
  int product(Bandwidth bandwidth, int gain) const;     // segments
  int with_room_for_bursts(const WindowState& state, int window) const;
  int in_flight_target(const WindowState& state, int gain) const;
  int burst(const WindowState& state) const;
  int in_flight_when_next_leaves(const WindowState& state, int in_flight, Nanoseconds now) const;
  int aggregation_room() const;

  int segment_;
  DeliveryRate& rate_;
  RandomStream phases_;
  Mode mode_ = Mode::kStartUp;
  int pacing_gain_, window_gain_;  // in 1/256

  RunningMax largest_;
  std::uint32_t rounds_ = 0;
  bool is_round_start_ = false;
  std::int64_t round_end_;  // delivered

  bool is_pipe_full_ = false;
  Bandwidth full_bandwidth_ = 0;
  int full_rounds_ = 0;

  int phase_ = 0;
  Nanoseconds phase_began_ns_ = 0;

  std::int64_t least_rtt_us_;
  std::int64_t least_rtt_jiffies_ = 0;  // when it was seen
  std::int64_t probe_until_jiffies_ = 0;
  bool has_probed_round_ = false, is_restarting_ = false;

  int saved_window_ = 0;
  Repair repair_before_ = Repair::kNone;
  bool conserves_ = false;

  bool watches_ = false, is_policed_ = false;
  Bandwidth policed_ = 0;
  int policer_rounds_ = 0;
  std::int64_t policer_delivered_ = 0, policer_lost_ = 0, policer_ms_ = 0;

  // Acknowledgements that arrive in bunches.
  Nanoseconds epoch_ns_ = 0;
  std::int64_t epoch_delivered_ = 0;
  std::array<int, 2> extra_ = {};
  int extra_rounds_ = 0, extra_index_ = 0;
};

}  // namespace longhaul::linux_tcp
