#include "emulation/host.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

constexpr int kPort = 5000;
constexpr std::int64_t kHeader = sizeof(HostMessage);
constexpr std::size_t kPiece = 1 << 18;  // bytes of one call

void require(bool is_so, const std::string& what) {
  if (!is_so) throw RunError(what + ": " + std::strerror(errno));
}

sockaddr_in socket_address(int host) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  inet_pton(AF_INET, address_of(host).c_str(), &address.sin_addr);
  return address;
}

// One share after another.
struct Outgoing {
  int socket = -1;
  std::deque<HostMessage> shares;
  std::int64_t sent = 0;  // of the first one
};

struct Incoming {
  int socket = -1;
  HostMessage share;
  std::int64_t got = 0;  // of it
};

class Host {
 public:
  Host(const HostPlan& plan, int control) : plan_(plan), control_(control), zeros_(kPiece) {}

  void serve() {
    connect_all();
    report({HostMessage::kConnected});
    while (read_commands()) {
      for (Outgoing& out : outgoing_) send_some(out);
      for (Incoming& in : incoming_) receive_some(in);
      wait();
    }
  }

 private:
  int connected_to(int target) const {
    const sockaddr_in address = socket_address(target);
    constexpr int kAttempts = 400, kBetween_us = 50000, yes = 1;
    for (int attempt = 0; attempt < kAttempts; ++attempt, usleep(kBetween_us)) {
      const int out = socket(AF_INET, SOCK_STREAM, 0);
      const std::string& control = plan_.tcp.congestion_control_of(plan_.host);
      require(setsockopt(out, IPPROTO_TCP, TCP_CONGESTION, control.data(),
                         static_cast<socklen_t>(control.size())) == 0,
              "congestion control " + control);
      setsockopt(out, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      if (connect(out, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return out;
      close(out);  // the other host does not listen yet
    }
    throw RunError("host " + std::to_string(plan_.host) + " cannot connect to host " +
                   std::to_string(target));
  }

  void connect_all() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in own = socket_address(plan_.host);
    require(bind(listener, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0, "bind");
    require(listen(listener, SOMAXCONN) == 0, "listen");
    for (const int target : plan_.targets) {
      first_to_[target] = outgoing_.size();
      for (int i = 0; i < plan_.tcp.connections; ++i) outgoing_.push_back({connected_to(target), {}, 0});
    }
    for (int i = 0; i < plan_.incoming; ++i) {
      incoming_.push_back({accept(listener, nullptr, nullptr), {}, 0});
      require(incoming_.back().socket >= 0, "accept");
    }
    close(listener);
    for (const Outgoing& out : outgoing_) fcntl(out.socket, F_SETFL, O_NONBLOCK);
    for (const Incoming& in : incoming_) fcntl(in.socket, F_SETFL, O_NONBLOCK);
  }

  void report(const HostMessage& message) const {
    require(send(control_, &message, sizeof message, MSG_NOSIGNAL) == sizeof message, "the network is gone");
  }

  // False once no more will come.
  bool read_commands() {
    HostMessage command;
    for (ssize_t got; (got = recv(control_, &command, sizeof command, MSG_DONTWAIT)) != -1;) {
      if (got == 0) return false;
      outgoing_[first_to_.at(command.target) + as_index(command.connection)].shares.push_back(command);
    }
    return errno == EAGAIN || errno == EINTR;
  }

  void send_some(Outgoing& out) const {
    while (!out.shares.empty()) {
      const HostMessage& share = out.shares.front();
      const bool is_header = out.sent < kHeader;
      const std::int64_t left = (is_header ? kHeader : share.bytes) - out.sent;
      const char* from = is_header ? reinterpret_cast<const char*>(&share) + out.sent : zeros_.data();
      const ssize_t put = send(out.socket, from, std::min(as_index(left), kPiece),
                               MSG_NOSIGNAL | (is_header && share.bytes > kHeader ? MSG_MORE : 0));
      if (put < 0 && errno == EAGAIN) return;
      require(put > 0, "send");
      out.sent += put;
      if (out.sent < share.bytes) continue;
      out.shares.pop_front();
      out.sent = 0;
    }
  }

  // The bytes behind the header are counted and dropped in the kernel.
  void receive_some(Incoming& in) {
    for (;;) {
      const bool is_header = in.got < kHeader;
      const std::int64_t left = (is_header ? kHeader : in.share.bytes) - in.got;
      const ssize_t got =
          is_header ? recv(in.socket, reinterpret_cast<char*>(&in.share) + in.got, as_index(left), 0)
                    : recv(in.socket, nullptr, as_index(left), MSG_TRUNC);
      if (got < 0 && errno == EAGAIN) return;
      require(got > 0, "receive");
      in.got += got;
      if (in.got < kHeader || in.got < in.share.bytes) continue;
      report(in.share);
      in.got = 0;
    }
  }

  void wait() const {
    std::vector<pollfd> polled = {{control_, POLLIN, 0}};
    for (const Incoming& in : incoming_) polled.push_back({in.socket, POLLIN, 0});
    for (const Outgoing& out : outgoing_)
      if (!out.shares.empty()) polled.push_back({out.socket, POLLOUT, 0});
    poll(polled.data(), polled.size(), -1);
  }

  const HostPlan& plan_;
  int control_;
  std::vector<char> zeros_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::map<int, std::size_t> first_to_;  // of the connections to a host
};

}  // namespace

std::string address_of(int host) {
  return "10.9.0." + std::to_string(host + 1);
}

void enter_namespace(int host) {
  const std::string file = "/run/netns/lh" + std::to_string(host);
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  require(descriptor >= 0 && setns(descriptor, CLONE_NEWNET) == 0, file);
  close(descriptor);
}

void serve_as_host(const HostPlan& plan, int control) {
  enter_namespace(plan.host);
  Host(plan, control).serve();
}

}  // namespace longhaul
