#include "sim/network/idle_restart.h"

#include <ns3/boolean.h>
#include <ns3/simulator.h>

#include <algorithm>
#include <type_traits>

#include "net/tcp/connection.h"

namespace longhaul {

void IdleRestart::before_sending(ns3::Ptr<ns3::TcpSocketState> state, bool restarts) const {
  if (!restarts || last_acknowledged_.IsZero()) return;
  const double rtt_s = state->m_minRtt.GetSeconds();
  // The last byte was sent a round trip before it was acknowledged.
  const double idle_s = (ns3::Simulator::Now() - last_acknowledged_).GetSeconds() + rtt_s;
  const std::uint32_t window = state->m_cWnd, threshold = state->m_ssThresh;
  const double kept = smooth_window_kept_after_idle(idle_s, rtt_s);
  if (kept == 1) return;
  if (window >= threshold) state->m_ssThresh = std::max(threshold, window / 4 * 3);
  const std::uint32_t initial = std::min(window, kInitialWindowSegments * state->m_segmentSize);
  state->m_cWnd = std::max(initial, static_cast<std::uint32_t>(window * kept));
}

bool IdleRestart::may_grow(ns3::Ptr<const ns3::TcpSocketState> state, std::uint32_t segments) {
  last_acknowledged_ = ns3::Simulator::Now();
  const std::uint32_t in_flight = state->m_bytesInFlight + segments * state->m_segmentSize;
  if (state->m_lastAckedSeq > round_end_) {
    round_end_ = state->m_highTxMark;
    peak_in_flight_ = 0;
  }
  peak_in_flight_ = std::max(peak_in_flight_, in_flight);
  if (state->m_cWnd < state->m_ssThresh)
    return 2 * static_cast<std::uint64_t>(peak_in_flight_) >= state->m_cWnd;
  return peak_in_flight_ + 3 * state->m_segmentSize >= state->m_cWnd;
}

template <typename Base>
ns3::TypeId HostControl<Base>::GetTypeId() {
  constexpr bool kIsCubic = std::is_same_v<Base, ns3::TcpCubic>;
  static const ns3::TypeId id =
      ns3::TypeId(kIsCubic ? "longhaul::HostCubic" : "longhaul::HostReno")
          .SetParent<Base>()
          .template AddConstructor<HostControl>()
          .AddAttribute("SlowStartAfterIdle", "start again with a smaller window after idling (RFC 2861)",
                        ns3::BooleanValue(true), ns3::MakeBooleanAccessor(&HostControl::restarts_),
                        ns3::MakeBooleanChecker());
  return id;
}

template <typename Base>
void HostControl<Base>::CwndEvent(ns3::Ptr<ns3::TcpSocketState> state,
                                  const ns3::TcpSocketState::TcpCAEvent_t event) {
  if (event == ns3::TcpSocketState::CA_EVENT_TX_START) restart_.before_sending(state, restarts_);
  Base::CwndEvent(state, event);
}

template <typename Base>
void HostControl<Base>::IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> state, std::uint32_t segments) {
  if (restart_.may_grow(state, segments)) Base::IncreaseWindow(state, segments);
}

template class HostControl<ns3::TcpCubic>;
template class HostControl<ns3::TcpLinuxReno>;

}  // namespace longhaul
