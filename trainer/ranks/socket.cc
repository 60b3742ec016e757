#include "trainer/ranks/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "core/base/errors.h"

namespace longhaul {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLookMs = 50;                                 // between two calls of a WhileWaiting
constexpr auto kLongestAttempt = std::chrono::seconds(30);  // to reach one address

std::string reason_of(int error) {
  return std::strerror(error);
}

void set_option(const Socket& socket, int level, int option, int value) {
  ::setsockopt(socket.descriptor(), level, option, &value, sizeof value);
}

Socket open_socket(int family, int type) {
  Socket socket(::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) throw RunError("no socket can be opened: " + reason_of(errno));
  return socket;
}

SocketAddress local_address(const Socket& socket) {
  SocketAddress address;
  address.size = sizeof address.storage;
  if (::getsockname(socket.descriptor(), address.raw(), &address.size) != 0)
    throw RunError("a socket without an address: " + reason_of(errno));
  return address;
}

SocketAddress without_port(SocketAddress address) {
  if (address.storage.ss_family == AF_INET6)
    reinterpret_cast<sockaddr_in6&>(address.storage).sin6_port = 0;
  else
    reinterpret_cast<sockaddr_in&>(address.storage).sin_port = 0;
  return address;
}

// The name of a loopback address on every machine.
bool means_loopback(const std::string& host) {
  return host == "localhost" || host == "ip6-localhost" || host == "ip6-loopback" || host == "::1" ||
         host.rfind("127.", 0) == 0;
}

// A datagram socket finds the way without a packet.
bool find_way(const SocketAddress& to, SocketAddress& from) {
  Socket socket(::socket(to.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open() || ::connect(socket.descriptor(), to.raw(), to.size) != 0) return false;
  from = without_port(local_address(socket));
  return true;
}

SocketAddress address_of_interface(const std::string& name, int preferred_family) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0)
    throw RunError("the network interfaces cannot be listed: " + reason_of(errno));
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, ::freeifaddrs);
  SocketAddress found;
  std::string names;
  for (const ifaddrs* interface = list; interface; interface = interface->ifa_next) {
    if (!interface->ifa_addr) continue;
    const int family = interface->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    if (interface->ifa_name != name) {
      if ((", " + names + ",").find(std::string(", ") + interface->ifa_name + ",") == std::string::npos)
        names += (names.empty() ? "" : ", ") + std::string(interface->ifa_name);
      continue;
    }
    if (found.size > 0 && family != preferred_family) continue;
    found.size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::memcpy(&found.storage, interface->ifa_addr, found.size);
    if (family == preferred_family) break;
  }
  if (found.size == 0)
    throw RunError("GLOO_SOCKET_IFNAME: no network interface \"" + name +
                   "\" with an address; there are: " + names);
  return found;
}

SocketAddress every_address(int family) {
  SocketAddress any;
  any.storage.ss_family = static_cast<sa_family_t>(family);
  any.size = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  return any;
}

int pending_error(const Socket& socket) {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

// 0, or why not.
int try_to_connect(const Socket& socket, const SocketAddress& address, Clock::time_point deadline,
                   const WhileWaiting& while_waiting) {
  if (::connect(socket.descriptor(), address.raw(), address.size) == 0) return 0;
  if (errno != EINPROGRESS && errno != EINTR) return errno;
  const auto end = std::min(deadline, Clock::now() + kLongestAttempt);
  return wait_until_ready(socket, true, end, while_waiting) ? pending_error(socket) : ETIMEDOUT;
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  Socket former(release());
  descriptor_ = other.release();
  return *this;
}

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int Socket::release() {
  const int descriptor = descriptor_;
  descriptor_ = -1;
  return descriptor;
}

bool SocketAddress::is_loopback() const {
  if (storage.ss_family == AF_INET)
    return (ntohl(reinterpret_cast<const sockaddr_in&>(storage).sin_addr.s_addr) >> 24) == 127;
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr);
}

std::string SocketAddress::host() const {
  char text[NI_MAXHOST] = "";
  ::getnameinfo(raw(), size, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return text;
}

int SocketAddress::port() const {
  return ntohs(storage.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(storage).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(storage).sin_port);
}

std::string text_of(const std::string& host, int port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::vector<SocketAddress> resolve(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0) throw RunError("\"" + host + "\" has no address: " + ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, ::freeaddrinfo);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* interface = list; interface; interface = interface->ai_next) {
    addresses.emplace_back();
    addresses.back().size = interface->ai_addrlen;
    std::memcpy(&addresses.back().storage, interface->ai_addr, interface->ai_addrlen);
  }
  return addresses;
}

ListeningPlace choose_listening_place(const std::string& master, const std::string& interface) {
  const std::vector<SocketAddress> masters = resolve(master, 1);
  if (!interface.empty()) {
    const SocketAddress address = address_of_interface(interface, masters.front().storage.ss_family);
    return {without_port(address), address.host()};
  }
  for (const SocketAddress& to : masters) {
    SocketAddress from;
    if (!find_way(to, from)) continue;
    if (!from.is_loopback() || means_loopback(master)) return {from, from.host()};
    return {every_address(from.storage.ss_family), ""};
  }
  throw RunError("no way to " + master + " (MASTER_ADDR): " + reason_of(errno));
}

Socket listen_at(const SocketAddress& address) {
  Socket socket = open_socket(address.storage.ss_family, SOCK_STREAM);
  if (::bind(socket.descriptor(), address.raw(), address.size) != 0 ||
      ::listen(socket.descriptor(), SOMAXCONN) != 0)
    throw RunError("cannot listen at " + address.host() + ": " + reason_of(errno));
  return socket;
}

int port_of(const Socket& listening) {
  return local_address(listening).port();
}

Socket connect_to(const std::vector<SocketAddress>& addresses, Clock::time_point deadline,
                  const WhileWaiting& while_waiting) {
  std::string reasons;
  for (const SocketAddress& address : addresses) {
    Socket socket = open_socket(address.storage.ss_family, SOCK_STREAM);
    const int error = try_to_connect(socket, address, deadline, while_waiting);
    if (error == 0) return socket;
    reasons +=
        (reasons.empty() ? "" : "; ") + text_of(address.host(), address.port()) + ": " + reason_of(error);
  }
  throw RunError(reasons);
}

bool wait_until_ready(const Socket& socket, bool to_write, Clock::time_point deadline,
                      const WhileWaiting& while_waiting) {
  for (;;) {
    pollfd pollfd_here{socket.descriptor(), static_cast<short>(to_write ? POLLOUT : POLLIN), 0};
    if (::poll(&pollfd_here, 1, kLookMs) > 0) return true;
    while_waiting();
    if (Clock::now() > deadline) return false;
  }
}

void prepare_for_transfers(const Socket& socket, int patience_s) {
  constexpr int kQuiet_s = 60, kBetween_s = 10, kMostProbes = 127;
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, kQuiet_s);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, kBetween_s);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, std::clamp(patience_s / kBetween_s, 3, kMostProbes));
}

}  // namespace longhaul
