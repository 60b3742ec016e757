// One sender's connections to one receiver in the flow fidelity: the queue of transfers, and TCP's
// self-clocking. It is in one of three states:
//
// bursts  While the window is smaller than what the path holds at the fair share, data goes out in bursts,
//         which their acknowledgements release again (AckClock), plus what the window grew.
// fluid   Once the window covers share × RTT nothing happens until the share changes.
// paced   A window that never covers the path (the scenario's, or a matrix's throughput) is burst credit and
//         no rate: a window leaves at the share, and the channel is idle for the rest of the round trip. Of
//         a transfer of many windows only the first and the last rounds go that way. Between them are whole
//         rounds as one fluid of a window a round trip, which carry the same bytes in the same time and cost
//         one event. Behind an earlier transfer too: what is under way then is under way again after them.
//
// k connections share a transfer evenly, so that one window times k stands for all. Where the network signals
// congestion (net/tcp/congestion.h) a channel is one connection, and its window is followed in the fluid
// state too: the level of its queue is the window less the pipe, and after a reaction the window may be below
// the pipe again.
//
// With BBR a channel is one connection too, fluid throughout, and bbr.h says how fast and how much may leave.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "net/tcp/bbr.h"
#include "net/tcp/congestion.h"
#include "net/tcp/connection.h"
#include "net/tcp/window.h"
#include "replay/flow/ack_clock.h"
#include "replay/flow/containers.h"
#include "replay/flow/transfer_times.h"
#include "replay/network/sync_parts.h"

namespace longhaul {

class FlowChannel {
 public:
  struct Rules {
    int connections = 1;
    double segment = 1448;
    bool is_cubic = true, is_bbr = false;                   // neither: Reno
    bool is_linux = false;                                  // in its response to losses
    double link = std::numeric_limits<double>::infinity();  // bytes of payload a second, the slowest link
    int channels = 1;                                       // of the pair, among which a transfer is split
    bool slow_start_after_idle = true;
    bool has_linux_windows = false;  // net/tcp/window.h
  };
  struct Transmission {
    std::int64_t bytes = 0;
    std::function<void()> on_arrival;
    SyncParts* parts = nullptr;  // pop() adds where the time since push() went
  };

  // With a `reaction` the channel is one connection.
  FlowChannel(ConnectionFacts facts, const Rules& rules,
              std::unique_ptr<CongestionReaction> reaction = nullptr);

  const ConnectionFacts& facts() const { return facts_; }
  // Whether the largest windows do not cover the path even without others on it.
  bool is_window_limited() const { return alone_.is_window_limited; }
  // Whether rate_limit() changes.
  bool limits_itself() const { return is_window_limited() || bbr_; }
  // Bytes of payload a second: faster than the largest windows allow over a round trip no data goes out. A
  // burst of theirs may: infinite.
  double rate_limit() const;

  // Takes a transfer; the channel may send from `now` on.
  void push(Transmission transfer, double now);
  std::size_t transfers() const { return queue_.size(); }
  // Whether data may go out now, or after acknowledgements.
  bool may_send() const {
    return bbr_ ? bbr_->credit() > nothing() : is_fluid() || clock_.credit > nothing();
  }

  // The path's links have other rates or delays from now on; what was sent is advance()d before. Its links
  // stay.
  void follow_path(const ConnectionFacts& present);
  // The fair share from `now` on, bytes of payload a second.
  void set_rate(double rate, double now);
  // Seconds from the latest of these calls, `now`, until it has to be advanced at the present rate: a
  // transfer ends, the credit is used up, acknowledgements or signals come. Without data a lost packet alone
  // counts.
  double wait_s(double now) const;
  // Accounts for what was sent since the last call, and for acknowledgements that came.
  void advance(double now);
  // Times are seconds since an origin that lies `by_s` later from now on.
  void rebase_time(double by_s);
  // Appends all that decides how it continues, for one transfer that was pushed just now and no reaction.
  void list_state(std::vector<double>& state) const;
  // The first transfer, taken out of the queue, once its last byte has been sent.
  bool is_first_sent() const { return !queue_.empty() && remaining_ <= nothing(); }
  Transmission pop(double now);
  // Null: nothing ever signals.
  CongestionReaction* reaction() const { return reaction_.get(); }

 private:
  enum class State : char { kBursts, kFluid, kPaced };

  // Fluid and paced.
  struct Fluid {
    double sent = 0;         // since it is in the state
    double covered = 0;      // a rate that the window covers
    double paced_until = 0;  // of the transfer, when the rounds that are paced end
  };
  // What was under way when the channel began to be paced: it is again when whole rounds are over.
  struct UnderWay {
    double since_s = 0;
    AckClock clock;
  };

  // Of a transfer that is split its part on an idle path, beside the other parts.
  struct PathAlone {
    PathAlone(const ConnectionFacts& facts, const Rules& rules);
    double rate, links;  // the second whatever the window is
    bool is_window_limited;
  };

  bool is_fluid() const { return state_ != State::kBursts; }
  // Fewer bytes than this are rounding: events are on whole nanoseconds.
  double nothing() const { return 1e-3 + 2e-9 * rate_; }
  double window() const { return window_.bytes() * rules_.connections; }
  double pipe() const { return rate_ * facts_.rtt_s; }

  void rest(double now);
  void spend(double elapsed_s, SpentTime& spent) const;

  void enter_fluid(State state);
  void leave_fluid(double now);
  void pace_rounds();
  void end_pacing(double now);
  void take_acknowledgements(double now);
  void note_limit();

  // With a reaction.
  void react(double elapsed_s, double sent, double now);
  void watch_queue(double now);
  double queue_bytes() const;

  // What every change of the rate looks at lies together, at the beginning.
  double remaining_ = 0;  // of the first transfer
  double rate_ = 0;
  double updated_s_ = 0;
  double last_sent_s_ = 0;
  PathAlone alone_;
  double pace_ = 0;  // the present rate in relation to what the path alone has for it
  Fluid fluid_;
  State state_ = State::kBursts;
  bool is_reducing_ = false;  // nothing has been handed to the network since the latest mark was noticed
  bool is_reduced_ = false;   // by a signal, since it was idle
  std::unique_ptr<CongestionReaction> reaction_;
  std::unique_ptr<Bbr> bbr_;  // null: the window is TcpWindow's
  TransferTimes times_;
  ShortQueue<Transmission> queue_;
  Rules rules_;
  ConnectionFacts facts_;
  TcpWindow window_;
  AckClock clock_;
  std::unique_ptr<UnderWay> under_way_;  // null: nothing was
};

}  // namespace longhaul
