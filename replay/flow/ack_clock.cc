#include "replay/flow/ack_clock.h"

#include <algorithm>

namespace longhaul {

void AckClock::send(double sent, double rate, double now) {
  if (sent > 0 && bytes == 0) begin_s = now - sent / rate;
  bytes += sent;
  credit -= sent;
  in_flight += sent;
}

void AckClock::end_burst(double rtt_s) {
  if (bytes == 0) return;
  under_way.push_back({begin_s + rtt_s, bytes, is_limited, rtt_s});
  bytes = 0;
  is_limited = false;
}

double AckClock::acknowledge(double nothing) {
  released = under_way.front().bytes;
  under_way.pop_front();
  round_left -= released;
  if (round_left < -nothing) {
    peak_in_flight = 0;
    round_left = in_flight - released;
  }
  peak_in_flight = std::max(peak_in_flight, in_flight);
  in_flight -= released;
  return released;
}

void AckClock::clear() {
  under_way.clear();
  bytes = in_flight = round_left = 0;
  is_limited = false;
}

void AckClock::go_on(double window, double flying, double now, double spread_s) {
  const int parts = spread_s > 0 ? 4 : 1;
  credit = window - flying;
  in_flight = flying;
  for (int part = 0; part < parts && flying > 0; ++part)
    under_way.push_back({now + (part + 0.5) / parts * spread_s, flying / parts, false, 0});
}

void AckClock::rebase_time(double by_s) {
  begin_s -= by_s;
  for (std::size_t i = 0; i < under_way.size(); ++i) under_way[i].acknowledged_s -= by_s;
}

void AckClock::list_state(std::vector<double>& state) const {
  state.insert(state.end(),
               {credit, bytes > 0 ? begin_s : 0, bytes, in_flight, peak_in_flight, round_left, released,
                static_cast<double>(is_limited), static_cast<double>(under_way.size())});
  for (std::size_t i = 0; i < under_way.size(); ++i)
    state.insert(state.end(), {under_way[i].acknowledged_s, under_way[i].bytes,
                               static_cast<double>(under_way[i].is_limited)});
}

}  // namespace longhaul
