#include "sim/network/packet_channel.h"

#include <ns3/inet-socket-address.h>
#include <ns3/nstime.h>
#include <ns3/packet.h>
#include <ns3/socket-factory.h>
#include <ns3/tcp-header.h>
#include <ns3/tcp-socket-base.h>
#include <ns3/tcp-socket-factory.h>
#include <ns3/uinteger.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/units.h"
#include "net/tcp/framing.h"
#include "sim/network/clock.h"

namespace longhaul {
namespace {

constexpr std::int64_t kMostBytes = 4000000000;  // sequence numbers have 32 bits
constexpr std::int64_t kSegmentsPerWrite = 64;

ns3::Ptr<ns3::Socket> tcp_socket(ns3::Ptr<ns3::Node> node) {
  return ns3::Socket::CreateSocket(node, ns3::TcpSocketFactory::GetTypeId());
}

}  // namespace

PacketChannel::PacketChannel(std::string name, const TcpSpec& tcp, ConnectionFacts facts, End sender,
                             End receiver, std::uint16_t first_port)
    : name_(std::move(name)),
      tcp_(tcp),
      facts_(std::move(facts)),
      sender_(std::move(sender)),
      receiver_(std::move(receiver)),
      first_port_(first_port),
      parts_done_(as_index(tcp.connections)) {
  const HostAcks acks(tcp_.segment, receive_buffer(), facts_.rtt_s);
  connections_.assign(parts_done_.size(), {nullptr, nullptr, 0, 0, {}, 0, {}, acks, false});
  for (std::size_t i = 0; i < connections_.size(); ++i)
    listen(i, static_cast<std::uint16_t>(first_port_ + i));
}

// The window is limited by the sender's buffer; the receiver's is twice that and never in the way.
double PacketChannel::send_buffer() const {
  return std::floor(std::max(facts_.window_limit, 2. * tcp_.segment));
}

void PacketChannel::limit_buffers(ns3::Ptr<ns3::Socket> socket) const {
  socket->SetAttribute("SndBufSize", ns3::UintegerValue(static_cast<std::uint64_t>(send_buffer())));
  socket->SetAttribute("RcvBufSize", ns3::UintegerValue(static_cast<std::uint64_t>(receive_buffer())));
  // Linux's retransmission time-out is never below the round trip plus 200 ms.
  socket->SetAttribute("MinRto", ns3::TimeValue(ns3::Seconds(retransmission_timeout_s(facts_.rtt_s))));
}

void PacketChannel::listen(std::size_t index, std::uint16_t port) {
  ns3::Ptr<ns3::Socket>& listener = connections_[index].listener;
  listener = tcp_socket(receiver_.node);
  limit_buffers(listener);
  listener->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
  listener->Listen();
  listener->SetAcceptCallback(
      ns3::MakeNullCallback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address&>(),
      [this, index](ns3::Ptr<ns3::Socket> accepted, const ns3::Address&) {
        accepted->SetRecvCallback([this, index](ns3::Ptr<ns3::Socket> socket) { read(index, socket); });
      });
}

void PacketChannel::connect() {
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    ns3::Ptr<ns3::Socket>& socket = connections_[i].sender;
    socket = tcp_socket(sender_.node);
    limit_buffers(socket);
    note_pushes(i);
    socket->Bind();
    socket->SetConnectCallback([this, i](ns3::Ptr<ns3::Socket>) { write(i); },
                               ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>());
    socket->SetSendCallback([this, i](ns3::Ptr<ns3::Socket>, std::uint32_t) { write(i); });
    socket->Connect(ns3::InetSocketAddress(receiver_.address, static_cast<std::uint16_t>(first_port_ + i)));
  }
}

void PacketChannel::send(std::int64_t bytes, std::function<void()> on_arrival) {
  const auto count = static_cast<std::int64_t>(connections_.size());
  transfers_.push_back({static_cast<int>(count), std::move(on_arrival)});
  for (std::int64_t i = 0; i < count; ++i) {
    Connection& connection = connections_[as_index(i)];
    const std::int64_t part = (i + 1) * bytes / count - i * bytes / count;
    connection.written += part;
    if (connection.written > kMostBytes)
      throw RunError(
          name_ + ": a connection would carry " + human_bytes(static_cast<double>(connection.written)) +
          ", and ns-3 counts its bytes in 32 bits; use more network.tcp.connections or fidelity \"flow\"");
    connection.expected.push_back(part);
    connection.unwritten += part;
  }
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    write(i);
    if (connections_[i].expected.front() == 0) finish_part(i);  // fewer bytes than connections
  }
  deliver();
}

void PacketChannel::write(std::size_t index) {
  Connection& connection = connections_[index];
  while (connection.unwritten > 0) {
    const std::int64_t room = connection.sender->GetTxAvailable();
    const std::int64_t bytes = std::min({connection.unwritten, room, kSegmentsPerWrite * tcp_.segment});
    if (bytes <= 0) return;
    const int sent = connection.sender->Send(ns3::Create<ns3::Packet>(static_cast<std::uint32_t>(bytes)));
    if (sent <= 0) return;  // not connected yet
    connection.unwritten -= sent;
  }
}

void PacketChannel::read(std::size_t index, ns3::Ptr<ns3::Socket> socket) {
  std::deque<std::int64_t>& expected = connections_[index].expected;
  std::int64_t read_bytes = 0;
  bool ends_write = false;
  while (ns3::Ptr<ns3::Packet> packet = socket->Recv()) {
    std::int64_t bytes = packet->GetSize();
    if (bytes == 0) break;
    read_bytes += bytes;
    while (bytes > 0 && !expected.empty()) {
      const std::int64_t taken = std::min(bytes, expected.front());
      expected.front() -= taken;
      bytes -= taken;
      ends_write = expected.front() == 0;
      if (ends_write) finish_part(index);
    }
  }
  received_ += read_bytes;
  pace_acks(connections_[index], socket, read_bytes, ends_write);
  deliver();
}

// Sequence numbers begin at 1, behind the handshake.
void PacketChannel::note_pushes(std::size_t index) {
  const auto note = [this, index](ns3::Ptr<const ns3::Packet> packet, const ns3::TcpHeader& header,
                                  ns3::Ptr<const ns3::TcpSocketBase>) {
    const std::int64_t bytes = packet->GetSize();
    const std::int64_t begin = static_cast<std::int64_t>(header.GetSequenceNumber().GetValue()) - 1;
    if (bytes > 0) connections_[index].pushes.sent(begin, begin + bytes, now_s());
  };
  connections_[index].sender->TraceConnectWithoutContext(
      "Tx", ns3::Callback<void, ns3::Ptr<const ns3::Packet>, const ns3::TcpHeader&,
                          ns3::Ptr<const ns3::TcpSocketBase>>(note));
}

// ns-3 decides about an acknowledgement after its application has read, by this count.
void PacketChannel::pace_acks(Connection& connection, ns3::Ptr<ns3::Socket> socket, std::int64_t bytes,
                              bool ends_write) {
  if (bytes == 0) return;
  connection.read += bytes;
  const bool is_pushed = connection.pushes.take(connection.read);
  const bool is_prompt = connection.acks.at_once(bytes, ends_write || is_pushed, now_s());
  if (is_prompt == connection.is_prompt) return;
  connection.is_prompt = is_prompt;
  socket->SetAttribute("DelAckCount", ns3::UintegerValue(is_prompt ? 1 : kSegmentsPerAck));
}

void PacketChannel::finish_part(std::size_t index) {
  connections_[index].expected.pop_front();
  --transfers_[as_index(parts_done_[index]++)].open_parts;
}

// In the order of sending, whatever the connections do.
void PacketChannel::deliver() {
  while (!transfers_.empty() && transfers_.front().open_parts == 0) {
    const std::function<void()> arrived = std::move(transfers_.front().on_arrival);
    transfers_.pop_front();
    for (std::int64_t& done : parts_done_) --done;
    arrived();
  }
}

}  // namespace longhaul
