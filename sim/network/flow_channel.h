// One sender's connections to one receiver in the flow fidelity: the queue of transfers, and TCP's
// self-clocking. It is in one of three states:
//
// bursts  While the window is smaller than what the path holds at the fair share, data goes out in bursts:
//         each burst's acknowledgements come one round trip after it began and release it again, plus what
//         the window grew.
// fluid   Once the window covers share × RTT nothing happens until the share changes.
// paced   A window that never covers the path (the scenario's, or a matrix's throughput) is burst credit and
//         no rate: a window leaves at the share, and the channel is idle for the rest of the round trip. Of
//         a transfer of many windows only the first and the last rounds go that way. Between them are whole
//         rounds as one fluid of a window a round trip, which carry the same bytes in the same time and cost
//         one event.
//
// k connections share a transfer evenly, so that one window times k stands for all. Where the network signals
// congestion (net/tcp/congestion.h) a channel is one connection, and its window is followed in the fluid
// state too: the level of its queue is the window less the pipe, and after a reaction the window may be below
// the pipe again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "net/tcp/congestion.h"
#include "net/tcp/connection.h"
#include "net/tcp/window.h"
#include "sim/network/containers.h"
#include "sim/network/transfer_times.h"

namespace longhaul {

class FlowChannel {
 public:
  struct Rules {
    int connections = 1;
    double segment = 1448;
    bool is_cubic = true;
    bool is_linux = false;                                  // in its response to losses
    double link = std::numeric_limits<double>::infinity();  // bytes of payload a second, the slowest link
    int channels = 1;                                       // of the pair, among which a transfer is split
    bool slow_start_after_idle = true;
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
  int connections() const { return rules_.connections; }
  // The rate that the largest window allows over a round trip, bytes of payload a second.
  double rate_limit() const;
  // Whether it is below what the path alone has.
  bool is_window_limited() const { return is_window_limited_; }
  // Whether data may not go out faster than that even for a moment.
  bool is_held_to_limit() const { return state_ == State::kPaced || !is_window_limited_; }

  // Takes a transfer; the channel may send from `now` on.
  void push(Transmission transfer, double now);
  bool has_data() const { return !queue_.empty(); }
  // Whether data may go out now. If not, acknowledgements release some at release_s().
  bool may_send() const { return is_fluid() || bursts_.credit > nothing(); }
  double release_s() const;

  // The path's links have other rates or delays from now on; what was sent is advance()d before. Its links
  // stay.
  void follow_path(const ConnectionFacts& present);
  // The path loses this share of the packets from now on; of a channel with a reaction.
  void follow_loss(double probability) { reaction_->set_loss(probability); }
  // The fair share from `now` on, bytes of payload a second.
  void set_rate(double rate, double now);
  // Seconds until the transfer ends or the credit is used up, at the present rate.
  double next_change_s() const;
  // Accounts for what was sent since the last call, and for acknowledgements that came.
  void advance(double now);
  // The first transfer, taken out of the queue, if its last byte has been sent.
  bool is_first_sent() const { return remaining_ <= nothing(); }
  Transmission pop(double now);
  // Packets lost so far, and how many of them, from the first on, have been sent again. While some have not,
  // repair_s() says when the sender does something about them; advance() then, even without data.
  int lost() const { return reaction_ ? reaction_->lost() : 0; }
  int repaired() const { return reaction_ ? reaction_->repaired() : 0; }
  double repair_s() const { return lost() > repaired() ? reaction_->next_s() : kNoSignal; }

 private:
  enum class State : char { kBursts, kFluid, kPaced };

  // Fluid and paced.
  struct Fluid {
    double sent = 0;         // since it is in the state
    double covered = 0;      // a rate that the window covers
    double paced_until = 0;  // of the transfer, when the rounds that are paced end
  };

  // What is under way until acknowledgements come.
  struct Bursts {
    struct Burst {
      double acknowledged_s = 0, bytes = 0;
    };

    bool is_idle() const { return under_way.empty() && bytes == 0; }
    void send(double sent, double rate, double now);
    void acknowledge(double acknowledged, double nothing);
    void clear();

    double credit = 0;              // that may be sent before an acknowledgement comes
    double begin_s = 0, bytes = 0;  // the burst being sent
    ShortQueue<Burst> under_way;
    double in_flight = 0;
    // The most in flight at an acknowledgement of the present round trip, and what of the data that was under
    // way at its beginning has not been acknowledged: the next one begins with later data, as Linux has it
    // (tcp_cwnd_validate, cwnd_usage_seq). Bursts that overlap on one connection share a round trip.
    double peak_in_flight = 0, round_left = 0;
    double released = 0;  // bytes whose acknowledgements, one by one, release the burst being sent
  };

  bool is_fluid() const { return state_ != State::kBursts; }
  // Fewer bytes than this are rounding: events are on whole nanoseconds.
  double nothing() const { return 1e-3 + 2e-9 * rate_; }
  double window() const { return window_.bytes() * rules_.connections; }
  double pipe() const { return rate_ * facts_.rtt_s; }

  void know_path();
  void rest(double now);
  void start(double now);
  bool covers(double rate);
  double before_event() const;

  void spend(double elapsed_s, SpentTime& spent) const;

  void enter_fluid(State state);
  void leave_fluid(double now);
  void spread_in_flight(double bytes, double now);
  bool has_whole_window() const;
  void pace_rounds();
  void end_pacing(double now);

  void end_burst();
  void take_acknowledgements(double now);

  // With a reaction.
  void follow(double elapsed_s, double sent, double now);
  void react(double now);
  void end_segment(std::int64_t bytes, double now);
  void watch_queue(double now);
  double queue_bytes() const;
  double crossing_s() const;

  // What every change of the rate looks at lies together, at the beginning.
  double remaining_ = 0;  // of the first transfer
  double rate_ = 0;
  double updated_s_ = 0;
  double last_sent_s_ = 0;
  double alone_ = 0;        // the rate of the path alone
  double links_alone_ = 0;  // the same whatever the window is
  double pace_ = 0;         // the present rate in relation to what the path alone has for it
  Fluid fluid_;
  State state_ = State::kBursts;
  bool is_window_limited_ = false;  // the largest windows do not cover the path even without others on it
  bool is_reducing_ = false;  // nothing has been handed to the network since the latest mark was noticed
  bool is_reduced_ = false;   // by a signal, since it was idle
  std::unique_ptr<CongestionReaction> reaction_;  // null: nothing ever signals
  TransferTimes times_;
  ShortQueue<Transmission> queue_;
  Rules rules_;
  ConnectionFacts facts_;
  TcpWindow window_;
  Bursts bursts_;
};

}  // namespace longhaul
