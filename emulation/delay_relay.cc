#include "emulation/delay_relay.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <queue>

#include "core/base/errors.h"
#include "core/base/random.h"
#include "emulation/host.h"
#include "emulation/lateness.h"
#include "emulation/real_clock.h"
#include "net/tcp/framing.h"

namespace longhaul {
namespace {

constexpr std::size_t kLargestPacket = 65536;
constexpr int kRelayPriority = 20;

// The device that the world made, in the namespace of this process.
int open_device(int host) {
  const int tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  ifreq request{};
  std::strcpy(request.ifr_name, "wan");
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (tun < 0 || ioctl(tun, TUNSETIFF, &request) != 0)
    throw RunError("the device of host " + std::to_string(host) + ": " + std::strerror(errno));
  return tun;
}

class Relay {
 public:
  Relay(const Topology& topology, double loss, std::uint64_t seed)
      : topology_(topology),
        loss_(loss),
        random_(seed, Purpose::kLoss),
        free_ns_(2 * as_index(topology.link_count())),
        buffer_(kLargestPacket) {
    for (int host = 0; host < topology.replicas(); ++host) {
      enter_namespace(host);
      polled_.push_back({open_device(host), POLLIN, 0});
    }
    paths_.resize(polled_.size() * polled_.size());
    for (int from = 0; from < topology.replicas(); ++from)
      for (int to = 0; to < topology.replicas(); ++to)
        if (from != to) paths_[as_index(from) * polled_.size() + as_index(to)] = hops_between(from, to);
  }

  [[noreturn]] void run() {
    std::int64_t looked_ns = monotonic_ns();
    for (;;) {
      const std::int64_t asked_ns = monotonic_ns(),
                         wait_ns = under_way_.empty() ? 1000000000 : under_way_.top().due_ns - asked_ns;
      const timespec timeout{0, std::clamp<std::int64_t>(wait_ns, 0, 999999999)};
      ppoll(polled_.data(), polled_.size(), &timeout, nullptr);
      // What is there at once may be there since the last look.
      constexpr std::int64_t kAtOnce_ns = 50000;
      const std::int64_t now_ns = monotonic_ns();
      since_ns_ = now_ns - asked_ns < kAtOnce_ns ? looked_ns : now_ns;
      looked_ns = now_ns;
      for (std::size_t from = 0; from < polled_.size(); ++from)
        if (polled_[from].revents != 0) take_from(from);
      while (!under_way_.empty() && under_way_.top().due_ns <= monotonic_ns()) {
        Packet packet = under_way_.top();
        under_way_.pop();
        note_late(packet, packet.due_ns);
        pass_on(packet);
      }
    }
  }

 private:
  struct Hop {
    LinkDirection direction = 0;
    double ns_per_byte = 0;
    std::int64_t delay_ns = 0;
  };
  struct Packet {
    std::int64_t due_ns = 0;  // at the end of the hop before `hop`
    std::int64_t number = 0;
    std::size_t path = 0, hop = 0;
    std::size_t place = 0, size = 0;  // of its bytes
    bool is_late = false;
  };
  struct IsLater {
    bool operator()(const Packet& a, const Packet& b) const {
      return a.due_ns != b.due_ns ? a.due_ns > b.due_ns : a.number > b.number;
    }
  };

  std::vector<Hop> hops_between(int from, int to) const {
    std::vector<Hop> hops;
    for (const LinkDirection direction : topology_.path(from, to).directions) {
      const double rate = topology_.rate(direction);
      const bool is_limited = !hops.empty() && rate != kUnlimited;
      hops.push_back({direction, is_limited ? 8e9 / rate : 0,
                      std::llround(topology_.link(direction / 2).delay_s * 1e9)});
    }
    return hops;
  }

  // Only packets to another host of the world travel.
  void take_from(std::size_t from) {
    constexpr std::size_t kDestination = 16, kHeader = 20;
    for (ssize_t got; (got = read(polled_[from].fd, buffer_.data(), buffer_.size())) > 0;) {
      if (as_index(got) < kHeader || (buffer_[0] >> 4 & 15) != 4) continue;
      std::uint32_t address = 0;
      std::memcpy(&address, buffer_.data() + kDestination, sizeof address);
      const std::size_t to = ntohl(address) - ntohl(inet_addr(address_of(0).c_str()));
      if (to >= polled_.size() || to == from) continue;
      const std::size_t place = free_place();
      bytes_[place].assign(buffer_.data(), buffer_.data() + got);
      Packet packet{monotonic_ns(), taken_++, from * polled_.size() + to, 0, place, as_index(got)};
      ++counts_->taken;
      note_late(packet, since_ns_);
      pass_on(packet);
    }
  }

  // Each packet once, however often it is late.
  void note_late(Packet& packet, std::int64_t due_ns) {
    if (packet.is_late || monotonic_ns() - due_ns <= kLate_ns) return;
    packet.is_late = true;
    ++counts_->late;
  }

  std::size_t free_place() {
    if (free_.empty()) {
      bytes_.emplace_back();
      return bytes_.size() - 1;
    }
    const std::size_t place = free_.back();
    free_.pop_back();
    return place;
  }

  // Over its next hop, or to its host. What that does not take is as a lost packet.
  void pass_on(Packet packet) {
    const std::vector<Hop>& path = paths_[packet.path];
    if (packet.hop == path.size()) {
      const ssize_t ignored =
          write(polled_[packet.path % polled_.size()].fd, bytes_[packet.place].data(), packet.size);
      static_cast<void>(ignored);
      free_.push_back(packet.place);
      return;
    }
    if (loss_ > 0 && random_.uniform() < loss_) return free_.push_back(packet.place);
    const Hop& hop = path[packet.hop++];
    std::int64_t& free_ns = free_ns_[as_index(hop.direction)];
    const double frame = static_cast<double>(packet.size + kEthernetBytes);
    free_ns = std::max(free_ns, packet.due_ns) + std::llround(frame * hop.ns_per_byte);
    packet.due_ns = (hop.ns_per_byte > 0 ? free_ns : packet.due_ns) + hop.delay_ns;
    under_way_.push(packet);
  }

  const Topology& topology_;
  double loss_;
  RandomStream random_;
  std::vector<pollfd> polled_;           // by host
  std::vector<std::vector<Hop>> paths_;  // [from · hosts + to]
  std::vector<std::int64_t> free_ns_;    // by direction: when the link has sent what came so far
  std::priority_queue<Packet, std::vector<Packet>, IsLater> under_way_;
  std::vector<std::vector<char>> bytes_;  // of packets under way, by place
  std::vector<std::size_t> free_;         // places
  std::vector<char> buffer_;
  std::int64_t taken_ = 0, since_ns_ = 0;  // when the packets that wait now may have come, at the earliest
  RelayCounts* counts_ = new_relay_counts();
};

}  // namespace

void start_relay(const Topology& topology, double loss, std::uint64_t seed) {
  Relay relay(topology, loss, seed);
  const pid_t child = fork();
  if (child < 0) throw RunError(std::string("no process: ") + std::strerror(errno));
  if (child > 0) return;
  be_first(kRelayPriority);
  relay.run();
}

}  // namespace longhaul
