// One sender's persistent TCP connections to one receiver in the packet fidelity. A transfer is split evenly
// over them and has arrived when all its parts have.
#pragma once

#include <ns3/ipv4-address.h>
#include <ns3/node.h>
#include <ns3/socket.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "core/scenario/case.h"
#include "net/tcp/connection.h"
#include "sim/network/host_acks.h"

namespace longhaul {

class PacketChannel {
 public:
  struct End {
    ns3::Ptr<ns3::Node> node;
    ns3::Ipv4Address address;
  };

  // Listens at once; connects when connect() is called from within the simulation (an earlier connect crashes
  // ns-3 where queue disciplines are installed). Uses ports `first_port` … + connections − 1 of the receiver.
  PacketChannel(std::string name, const TcpSpec& tcp, ConnectionFacts facts, End sender, End receiver,
                std::uint16_t first_port);

  void connect();
  // Throws RunError when a connection would carry more than ns-3 can count.
  void send(std::int64_t bytes, std::function<void()> on_arrival);

  const ConnectionFacts& facts() const { return facts_; }
  const std::string& name() const { return name_; }
  bool is_busy() const { return !transfers_.empty(); }
  std::int64_t received() const { return received_; }

 private:
  struct Connection {
    ns3::Ptr<ns3::Socket> listener, sender;
    std::int64_t unwritten = 0;  // accepted from send(), not yet in TCP's buffer
    std::int64_t written = 0;
    std::deque<std::int64_t> expected;  // bytes that the transfers under way still lack here, in order
    std::int64_t read = 0;              // by the receiver, since the beginning
    PushMarks pushes;
    HostAcks acks;           // of the receiver
    bool is_prompt = false;  // as ns-3's receiver is set: every segment at once
  };
  struct Transmission {
    int open_parts = 0;
    std::function<void()> on_arrival;
  };

  void listen(std::size_t index, std::uint16_t port);
  double send_buffer() const;
  double receive_buffer() const { return 2 * send_buffer(); }
  void limit_buffers(ns3::Ptr<ns3::Socket> socket) const;
  void write(std::size_t index);
  void read(std::size_t index, ns3::Ptr<ns3::Socket> socket);
  void pace_acks(Connection& connection, ns3::Ptr<ns3::Socket> socket, std::int64_t bytes, bool ends_write);
  void note_pushes(std::size_t index);
  void finish_part(std::size_t index);
  void deliver();

  std::string name_;
  TcpSpec tcp_;
  ConnectionFacts facts_;
  End sender_, receiver_;
  std::uint16_t first_port_;
  std::vector<Connection> connections_;
  std::deque<Transmission> transfers_;
  std::vector<std::int64_t> parts_done_;  // by connection, of the transfers under way
  std::int64_t received_ = 0;
};

}  // namespace longhaul
