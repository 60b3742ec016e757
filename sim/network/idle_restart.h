// What ns-3's congestion control lacks of a Linux host: a connection that idled starts again from its initial
// window (RFC 2861), and a window that the application does not use does not grow (RFC 7661).
#pragma once

#include <ns3/tcp-cubic.h>
#include <ns3/tcp-linux-reno.h>

namespace longhaul {

// Linux's receivers acknowledge a lone segment after 40 ms at first; ns-3's default is 200 ms.
constexpr double kDelayedAck_s = 0.04;

class IdleRestart {
 public:
  // At the first packet after everything was acknowledged. Without restarts the window stays as it is.
  void before_sending(ns3::Ptr<ns3::TcpSocketState> state, bool restarts) const;
  // At an acknowledgement of `segments`; whether the window was used and may grow.
  bool may_grow(ns3::Ptr<const ns3::TcpSocketState> state, std::uint32_t segments);

 private:
  ns3::Time last_acknowledged_;
  ns3::SequenceNumber32 round_end_;
  std::uint32_t peak_in_flight_ = 0;
};

// ns-3's CUBIC and Linux Reno with it. Named as ns-3 names its types, which are chosen by name.
template <typename Base>
class HostControl : public Base {
 public:
  static ns3::TypeId GetTypeId();
  void CwndEvent(ns3::Ptr<ns3::TcpSocketState> state, const ns3::TcpSocketState::TcpCAEvent_t event) override;
  void IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> state, std::uint32_t segments) override;
  ns3::Ptr<ns3::TcpCongestionOps> Fork() override { return ns3::CopyObject<HostControl<Base>>(this); }

 private:
  IdleRestart restart_;
  bool restarts_ = true;  // the attribute SlowStartAfterIdle
};
using HostCubic = HostControl<ns3::TcpCubic>;
using HostReno = HostControl<ns3::TcpLinuxReno>;

}  // namespace longhaul
