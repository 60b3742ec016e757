#!/usr/bin/env bash
# ns-3's TCP keeps its whole window over a silence of any length; after its time-out Linux's begins again with a small one.
#
# RFC 5681 (4.1) has a sender that was silent for longer than its time-out begin with the restart window, of ten segments here, and
# Linux does so by default (tcp_slow_start_after_idle; half for each time-out, RFC 2861). ns-3's CUBIC sends all at once: a model of
# requests or of training steps with pauses is too fast. 125 kB over 50 Mb/s and a round trip of 20 ms, cold, after 10 ms and after
# 60 s of silence: 0.076, 0.039 and 0.034 s. Linux 6.18: 0.076, 0.031 and, after 1 s, 0.075 s.
#
# The wheel ns3 3.44.post0 of PyPI (libraries and headers; Linux, x86-64), compiled against with g++, C++20. Seen on 29 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip download --quiet --no-deps --only-binary :all: --python-version 3.11 --platform manylinux_2_28_x86_64 -d "$folder" ns3==3.44.post0
python3 -m zipfile -e "$folder"/ns3-*.whl "$folder/wheel"
mkdir "$folder/headers"
ln -s "$folder/wheel/ns3/include/ns3" "$folder/headers/ns3"

cat > "$folder/silence.cc" <<'CODE'
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

#include <cstdio>

using namespace ns3;

int main() {
  Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpCubic"));
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
  Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
  Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 22));
  Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 22));
  NodeContainer nodes(2);
  PointToPointHelper link;
  link.SetDeviceAttribute("DataRate", StringValue("50Mbps"));
  link.SetChannelAttribute("Delay", StringValue("10ms"));
  link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("10000p"));
  const NetDeviceContainer devices = link.Install(nodes);
  InternetStackHelper().Install(nodes);
  Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
  const InetSocketAddress at(addresses.Assign(devices).GetAddress(1), 5000);

  constexpr std::uint32_t kBytes = 125000;
  const double pauses_s[] = {0.01, 60};
  double begun_s = 0;
  std::uint32_t received = 0, transfers = 0;
  const auto listener = Socket::CreateSocket(nodes.Get(1), TcpSocketFactory::GetTypeId());
  const auto sender = Socket::CreateSocket(nodes.Get(0), TcpSocketFactory::GetTypeId());
  const auto begin = [&] {
    begun_s = Simulator::Now().GetSeconds();
    sender->Send(Create<Packet>(kBytes));
  };
  listener->Bind(at);
  listener->Listen();
  listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(), [&](Ptr<Socket> accepted, const Address&) {
    accepted->SetRecvCallback([&](Ptr<Socket> socket) {
      while (const Ptr<Packet> packet = socket->Recv()) received += packet->GetSize();
      if (received < kBytes) return;
      received = 0;
      std::printf("%.3f\n", Simulator::Now().GetSeconds() - begun_s);
      if (transfers < 2) Simulator::Schedule(Seconds(pauses_s[transfers++]), begin);
    });
  });
  Simulator::Schedule(Seconds(0.1), [&] { sender->Connect(at); });
  Simulator::Schedule(Seconds(1), begin);
  Simulator::Run();
}
CODE
libraries=()
for part in core network internet point-to-point; do libraries+=("$folder"/wheel/ns3/lib64/libns3*-$part.so); done
g++ -std=c++20 -DNS3_BUILD_PROFILE_RELEASE -DNS3_LOG_ENABLE -DNS3_ASSERT_ENABLE -I "$folder/headers" "$folder/silence.cc" \
  "${libraries[@]}" "-Wl,-rpath,$folder/wheel/ns3/lib64" -o "$folder/silence"
read -r cold again after <<< "$("$folder/silence" | xargs)"
echo "125 kB, 50 Mb/s, 20 ms: cold $cold s, 10 ms later $again s, after 60 s of silence $after s"
python3 -c "import sys; cold, after = map(float, sys.argv[1:]); sys.exit(not after < 0.6 * cold)" "$cold" "$after" || { echo "no longer so"; exit 1; }
