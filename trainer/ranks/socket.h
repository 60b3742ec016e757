// TCP sockets of a rank: addresses by name, listening, connecting. IPv4 and IPv6.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace longhaul {

// Owns a descriptor.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(other.release()) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  int descriptor() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }
  int release();

 private:
  int descriptor_ = -1;
};

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* raw() { return reinterpret_cast<sockaddr*>(&storage); }
  bool is_loopback() const;
  std::string host() const;  // in figures
  int port() const;
};

// "10.0.0.1:29500", "[::1]:29500"
std::string text_of(const std::string& host, int port);

// All addresses of a name, in the system's order of preference. Throws RunError where it has none.
std::vector<SocketAddress> resolve(const std::string& host, int port);

// Where a rank listens. Its host is what it tells the other ranks; empty: the host of MASTER_ADDR, which each
// machine may know by another address.
struct ListeningPlace {
  SocketAddress address;
  std::string host;
};

// The address by which this machine reaches `master` (MASTER_ADDR); of `interface` where that is not empty.
// Where `master` is this machine's own name and stands for a loopback address here (127.0.1.1 in Debian's
// /etc/hosts), other machines cannot use that address: all addresses are listened on. Throws RunError where
// there is no such interface, name or route.
ListeningPlace choose_listening_place(const std::string& master, const std::string& interface);

// On any port. Throws RunError.
Socket listen_at(const SocketAddress& address);
int port_of(const Socket& listening);

// Called while something is waited for, at least 20 times a second; may throw.
using WhileWaiting = std::function<void()>;

// Tries the addresses one after the other. Throws RunError with the reasons of all.
Socket connect_to(const std::vector<SocketAddress>& addresses, std::chrono::steady_clock::time_point deadline,
                  const WhileWaiting& while_waiting);

// Whether the socket can be read (written, with `to_write`) before `deadline`.
bool wait_until_ready(const Socket& socket, bool to_write, std::chrono::steady_clock::time_point deadline,
                      const WhileWaiting& while_waiting);

// For transfers: no delay for small messages; probes while nothing is sent, so that no firewall on the way
// forgets the connection. A peer that answers none of them for `patience_s` has vanished.
void prepare_for_transfers(const Socket& socket, int patience_s);

}  // namespace longhaul
