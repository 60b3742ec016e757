#include "validation/kernel/delay_relay.h"

#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <deque>

namespace longhaul {
namespace {

constexpr std::size_t kLargestPacket = 2048;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

struct Packet {
  std::int64_t due_ns = 0;
  std::size_t to = 0;
  std::vector<char> bytes;
};

// The host of an IPv4 destination 10.9.0.x; -1 for all else.
int destination(const std::vector<char>& packet, std::size_t hosts) {
  constexpr std::size_t kDestination = 16, kHeader = 20;
  if (packet.size() < kHeader || (packet[0] >> 4 & 15) != 4) return -1;
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(packet[kDestination + i]); };
  const bool is_ours = at(0) == 10 && at(1) == 9 && at(2) == 0 && at(3) >= 1 && at(3) <= hosts;
  return is_ours ? at(3) - 1 : -1;
}

}  // namespace

void relay_packets(const std::vector<int>& tuns, double delay_s, int stop) {
  const auto delay_ns = static_cast<std::int64_t>(delay_s * 1e9);
  std::vector<pollfd> polled;
  for (const int tun : tuns) polled.push_back({tun, POLLIN, 0});
  polled.push_back({stop, POLLIN, 0});
  std::deque<Packet> under_way;
  for (;;) {
    const std::int64_t wait_ns = under_way.empty() ? 1000000000 : under_way.front().due_ns - now_ns();
    const timespec timeout{0, wait_ns < 0 ? 0 : wait_ns > 999999999 ? 999999999 : wait_ns};
    ppoll(polled.data(), polled.size(), &timeout, nullptr);
    if (polled.back().revents != 0) return;
    for (const int tun : tuns) {
      std::vector<char> bytes(kLargestPacket);
      for (ssize_t got; (got = read(tun, bytes.data(), bytes.size())) > 0; bytes.resize(kLargestPacket)) {
        bytes.resize(static_cast<std::size_t>(got));
        const int to = destination(bytes, tuns.size());
        if (to >= 0) under_way.push_back({now_ns() + delay_ns, static_cast<std::size_t>(to), bytes});
      }
    }
    for (; !under_way.empty() && under_way.front().due_ns <= now_ns(); under_way.pop_front()) {
      const Packet& packet = under_way.front();
      if (write(tuns[packet.to], packet.bytes.data(), packet.bytes.size()) < 0) continue;  // as a lost packet
    }
  }
}

}  // namespace longhaul
