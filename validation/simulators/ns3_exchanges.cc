// Exchanges over the TCP of ns-3 as it comes, for results/reference/simulators.md: nothing of Longhaul's own
// packets (sim/) is in it. Run by tools.py.
//
//   ns3_exchanges pattern=transfer|pairs|ring|halving-doubling members=N bytes=B connections=K queue=Q
//                 rate=BIT/S rtt=S limit=BYTES loss=SHARE rto=S pauses=S,S,... seed=N [directions=1|2]
//
// transfer: two hosts and two routers, as the kernel was measured by wan_link.cc. `host`: the sender's device
// has the rate. `fifo`, `fq_codel-ecn`: the link between the routers has it, and hosts have 1 Gb/s.
// Other patterns: hosts on a star with three times the rate up and a drop-tail FIFO in front of the way down,
// as by wan_relay.cc; `queue` is `star`. `limit` is in bytes as that program counts them.
//
// Connections are opened beforehand. An exchange is from a moment that all hosts know until the last one has
// all that is sent to it; each of `pauses` lies between two. Prints the seconds of each exchange, one a line.
// Status 3: no exchange ended within 1000 s of simulated time.
#include <ns3/boolean.h>
#include <ns3/config.h>
#include <ns3/data-rate.h>
#include <ns3/double.h>
#include <ns3/error-model.h>
#include <ns3/inet-socket-address.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-address-helper.h>
#include <ns3/ipv4-global-routing-helper.h>
#include <ns3/node-container.h>
#include <ns3/nstime.h>
#include <ns3/packet.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>
#include <ns3/socket.h>
#include <ns3/string.h>
#include <ns3/tcp-cubic.h>
#include <ns3/tcp-socket-factory.h>
#include <ns3/traffic-control-helper.h>
#include <ns3/type-id.h>
#include <ns3/uinteger.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "validation/kernel/arguments.h"

namespace {

using longhaul::kernel::Arguments;

constexpr double kNs3Frame = 1500 + 2, kEthernetFrame = 1538, kIpPacket = 1500;
constexpr double kFast = 1e9, kUnlimited = 1e10;
constexpr double kConnect_s = 0.1, kFirst_s = 5, kLate_s = 1e-3, kMost_s = 1000;
constexpr std::uint32_t kBuffer = 67108864, kWrite = 64 * 1448;
constexpr const char* kRoom = "100000000B";  // the limit of the kernel's token bucket

std::size_t index(int number) {
  return static_cast<std::size_t>(number);
}

// Slows a link so that a full segment takes as long as with Ethernet's framing.
ns3::DataRateValue framed(double rate) {
  return ns3::DataRateValue(ns3::DataRate(static_cast<std::uint64_t>(rate * kNs3Frame / kEthernetFrame)));
}

void set_tcp_defaults(double least_rto_s) {
  using ns3::Config::SetDefault;
  SetDefault("ns3::TcpL4Protocol::SocketType", ns3::TypeIdValue(ns3::TcpCubic::GetTypeId()));
  SetDefault("ns3::TcpSocket::SegmentSize", ns3::UintegerValue(1448));
  SetDefault("ns3::TcpSocket::InitialCwnd", ns3::UintegerValue(10));
  SetDefault("ns3::TcpSocket::SndBufSize", ns3::UintegerValue(kBuffer));
  SetDefault("ns3::TcpSocket::RcvBufSize", ns3::UintegerValue(kBuffer));
  SetDefault("ns3::TcpSocket::DelAckCount", ns3::UintegerValue(2));
  SetDefault("ns3::TcpSocket::DelAckTimeout", ns3::TimeValue(ns3::Seconds(0.04)));
  SetDefault("ns3::TcpSocketBase::MinRto", ns3::TimeValue(ns3::Seconds(least_rto_s)));
  SetDefault("ns3::TcpSocketBase::Sack", ns3::BooleanValue(true));
  SetDefault("ns3::TcpSocketBase::Timestamp", ns3::BooleanValue(true));
}

// The nodes: hosts first, then routers.
class Network {
 public:
  explicit Network(const Arguments& arguments)
      : queue_(arguments.text("queue")),
        limit_(arguments.text("limit")),
        rate_(arguments.number("rate")),
        rtt_s_(arguments.number("rtt")),
        loss_(arguments.number("loss")) {
    if (queue_ == "fq_codel-ecn")
      ns3::Config::SetDefault("ns3::TcpSocketBase::UseEcn", ns3::StringValue("On"));
    const auto hosts = static_cast<std::uint32_t>(arguments.number("members"));
    nodes_.Create(hosts + (queue_ == "star" ? 1 : 2));
    ns3::InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes_);
    queue_ == "star" ? build_star(hosts) : build_two_hosts();
    ns3::Ipv4GlobalRoutingHelper::PopulateRoutingTables();
  }

  ns3::Ptr<ns3::Node> host(int number) const { return nodes_.Get(static_cast<std::uint32_t>(number)); }
  ns3::Ipv4Address address(int host) const { return addresses_[index(host)]; }

 private:
  void build_two_hosts() {
    const bool is_own = queue_ == "host";
    const ns3::NetDeviceContainer trunk = link(2, 3, is_own ? kUnlimited : rate_, rtt_s_ / 2);
    for (std::uint32_t end = 0; end < 2; ++end) {
      ns3::TrafficControlHelper control;
      if (is_own)
        control.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", ns3::StringValue(kRoom));
      else if (queue_ == "fifo")
        control.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", ns3::StringValue(limit_ + "B"));
      else
        control.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "UseEcn", ns3::BooleanValue(true));
      control.Install(trunk.Get(end));
    }
    assign(trunk);
    for (std::uint32_t host = 0; host < 2; ++host)
      add_host(host, host + 2, {is_own ? rate_ : kFast, is_own ? kUnlimited : kFast}, 0);
  }

  // The relay's limit is in bytes on the wire and counts the packet that is being sent; here that one and the
  // two in the device are beside the queue.
  void build_star(std::uint32_t hosts) {
    const double room = std::stod(limit_) * kIpPacket / kEthernetFrame - 3 * kIpPacket;
    for (std::uint32_t host = 0; host < hosts; ++host)
      add_host(host, hosts, {3 * rate_, rate_}, rtt_s_ / 4,
               std::to_string(static_cast<std::int64_t>(room)) + "B");
  }

  // `rates`: up and down. `room`: of the queue in front of the way down; a host's own has room for all.
  void add_host(std::uint32_t host, std::uint32_t router, const std::pair<double, double>& rates,
                double delay_s, const std::string& room = kRoom) {
    const ns3::NetDeviceContainer devices = link(host, router, rates.second, delay_s);
    devices.Get(0)->SetAttribute("DataRate", framed(rates.first));
    for (std::uint32_t end = 0; end < 2; ++end) {
      ns3::TrafficControlHelper control;
      control.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", ns3::StringValue(end == 0 ? kRoom : room));
      control.Install(devices.Get(end));
    }
    addresses_.push_back(assign(devices));
  }

  ns3::NetDeviceContainer link(std::uint32_t first, std::uint32_t second, double rate, double delay_s) {
    ns3::PointToPointHelper helper;
    helper.SetDeviceAttribute("DataRate", framed(rate));
    helper.SetChannelAttribute("Delay", ns3::TimeValue(ns3::Seconds(delay_s)));
    helper.SetQueue("ns3::DropTailQueue", "MaxSize", ns3::StringValue("2p"));
    const ns3::NetDeviceContainer devices = helper.Install(nodes_.Get(first), nodes_.Get(second));
    for (std::uint32_t end = 0; end < 2 && loss_ > 0; ++end) {
      const auto model = ns3::CreateObject<ns3::RateErrorModel>();
      model->SetUnit(ns3::RateErrorModel::ERROR_UNIT_PACKET);
      model->SetRate(loss_);
      ns3::DynamicCast<ns3::PointToPointNetDevice>(devices.Get(end))->SetReceiveErrorModel(model);
    }
    return devices;
  }

  ns3::Ipv4Address assign(const ns3::NetDeviceContainer& devices) {
    ns3::Ipv4AddressHelper helper(ns3::Ipv4Address(0x0a000000 + 256 * links_++), "255.255.255.0");
    return helper.Assign(devices).GetAddress(0);
  }

  std::string queue_, limit_;
  double rate_, rtt_s_, loss_;
  ns3::NodeContainer nodes_;
  std::vector<ns3::Ipv4Address> addresses_;  // by host
  std::uint32_t links_ = 0;
};

struct Message {
  int target;
  std::int64_t bytes;
};
using Round = std::vector<Message>;

// What a host sends in each round. In halving-doubling `bytes` is the whole vector.
std::vector<Round> rounds_of(const std::string& pattern, int host, int members, std::int64_t bytes,
                             int directions) {
  std::vector<Round> rounds;
  if (pattern == "transfer") {
    rounds.emplace_back();
    if (host < directions) rounds[0] = {{1 - host, bytes}};
  } else if (pattern == "ring") {
    rounds.assign(index(2 * (members - 1)), {{(host + 1) % members, bytes}});
  } else if (pattern == "pairs") {
    rounds.push_back({{(host + members / 2) % members, bytes}});
  } else {
    for (int bit = 1; bit < members; bit *= 2) rounds.push_back({{host ^ bit, bytes / (2 * bit)}});
    for (int bit = members / 2; bit >= 1; bit /= 2) rounds.push_back({{host ^ bit, bytes / (2 * bit)}});
  }
  return rounds;
}

class Exchanges {
 public:
  Exchanges(const Network& network, const Arguments& arguments)
      : network_(network),
        connections_(static_cast<int>(arguments.number("connections"))),
        late_(static_cast<std::uint64_t>(arguments.number("seed"))) {
    const auto members = static_cast<int>(arguments.number("members"));
    for (int host = 0; host < members; ++host)
      hosts_.push_back({rounds_of(arguments.text("pattern"), host, members,
                                  static_cast<std::int64_t>(arguments.number("bytes")),
                                  static_cast<int>(arguments.number("directions", 2))),
                        0,
                        {}});
    std::istringstream pauses(arguments.text("pauses"));
    for (std::string pause; std::getline(pauses, pause, ',');) pauses_s_.push_back(std::stod(pause));
    for (int host = 0; host < members; ++host)
      for (const Round& round : hosts_[index(host)].rounds)
        for (const Message& message : round) connect(host, message.target);
  }

  // Exchanges that ended.
  std::size_t run() {
    ns3::Simulator::Schedule(ns3::Seconds(kFirst_s), [this] { begin(); });
    ns3::Simulator::Stop(ns3::Seconds(kMost_s));
    ns3::Simulator::Run();
    return ended_;
  }
  std::size_t wanted() const { return 1 + pauses_s_.size(); }

 private:
  struct Host {
    std::vector<Round> rounds;
    std::size_t round;
    std::vector<int> missing;  // parts that have not arrived, by round
  };
  struct Part {
    std::int64_t bytes;
    std::size_t round;
  };
  struct Connection {
    int target;
    ns3::Ptr<ns3::Socket> sender;
    std::deque<Part> parts;  // under way
    std::int64_t received;   // of the first one
  };

  void connect(int source, int target) {
    std::vector<std::unique_ptr<Connection>>& own = channels_[{source, target}];
    for (int i = static_cast<int>(own.size()); i < connections_; ++i) {
      own.push_back(std::make_unique<Connection>(Connection{target, {}, {}, 0}));
      Connection* connection = own.back().get();
      const ns3::InetSocketAddress at(network_.address(target), port_++);
      const auto listener =
          ns3::Socket::CreateSocket(network_.host(target), ns3::TcpSocketFactory::GetTypeId());
      listener->Bind(at);
      listener->Listen();
      listener->SetAcceptCallback(
          ns3::MakeNullCallback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address&>(),
          [this, connection](ns3::Ptr<ns3::Socket> accepted, const ns3::Address&) {
            accepted->SetRecvCallback(
                [this, connection](ns3::Ptr<ns3::Socket> socket) { receive(*connection, socket); });
          });
      connection->sender =
          ns3::Socket::CreateSocket(network_.host(source), ns3::TcpSocketFactory::GetTypeId());
      connection->sender->Bind();
      // Nodes can send once the simulation has begun.
      ns3::Simulator::Schedule(ns3::Seconds(kConnect_s),
                               [connection, at] { connection->sender->Connect(at); });
    }
  }

  void begin() {
    begun_s_ = ns3::Simulator::Now().GetSeconds();
    open_ = static_cast<int>(hosts_.size());
    for (Host& host : hosts_) {
      host.round = 0;
      host.missing.assign(host.rounds.size(), 0);
    }
    for (const Host& host : hosts_)
      for (std::size_t round = 0; round < host.rounds.size(); ++round)
        for (const Message& message : host.rounds[round])
          hosts_[index(message.target)].missing[round] += connections_;
    for (int host = 0; host < static_cast<int>(hosts_.size()); ++host) {
      send(host, true);
      advance(host);
    }
  }

  // At the begin of an exchange hosts and connections are up to 1 ms late, as threads are.
  void send(int number, bool is_first) {
    const Host& host = hosts_[index(number)];
    for (const Message& message : host.rounds[host.round])
      for (const auto& one : channels_.at({number, message.target})) {
        one->parts.push_back({message.bytes / connections_, host.round});
        const double late_s = is_first ? std::uniform_real_distribution<double>(0, kLate_s)(late_) : 0;
        ns3::Simulator::Schedule(ns3::Seconds(late_s),
                                 [connection = one.get(), bytes = one->parts.back().bytes] {
                                   for (std::int64_t rest = bytes; rest > 0; rest -= kWrite)
                                     connection->sender->Send(ns3::Create<ns3::Packet>(
                                         static_cast<std::uint32_t>(std::min<std::int64_t>(rest, kWrite))));
                                 });
      }
  }

  void receive(Connection& connection, const ns3::Ptr<ns3::Socket>& socket) {
    while (const ns3::Ptr<ns3::Packet> packet = socket->Recv()) {
      connection.received += packet->GetSize();
      if (packet->GetSize() == 0) break;
    }
    while (!connection.parts.empty() && connection.received >= connection.parts.front().bytes) {
      connection.received -= connection.parts.front().bytes;
      --hosts_[index(connection.target)].missing[connection.parts.front().round];
      connection.parts.pop_front();
      advance(connection.target);
    }
  }

  void advance(int number) {
    Host& host = hosts_[index(number)];
    while (host.round < host.rounds.size() && host.missing[host.round] == 0) {
      if (++host.round < host.rounds.size())
        send(number, false);
      else if (--open_ == 0)
        end();
    }
  }

  void end() {
    std::printf("%.9f\n", ns3::Simulator::Now().GetSeconds() - begun_s_);
    if (++ended_ == wanted()) return ns3::Simulator::Stop();
    ns3::Simulator::Schedule(ns3::Seconds(pauses_s_[ended_ - 1]), [this] { begin(); });
  }

  const Network& network_;
  int connections_;
  std::mt19937_64 late_;
  std::vector<Host> hosts_;
  std::vector<double> pauses_s_;
  std::map<std::pair<int, int>, std::vector<std::unique_ptr<Connection>>> channels_;
  std::uint16_t port_ = 5000;
  double begun_s_ = 0;
  int open_ = 0;
  std::size_t ended_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments("ns3_exchanges", argc, argv);
  ns3::RngSeedManager::SetRun(static_cast<std::uint64_t>(arguments.number("seed")));
  set_tcp_defaults(arguments.number("rto"));
  const Network network(arguments);
  Exchanges exchanges(network, arguments);
  return exchanges.run() == exchanges.wanted() ? 0 : 3;
}
