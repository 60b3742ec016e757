// A wide-area network in real time for the Linux kernel's own TCP, without ns-3: N network namespaces, each
// with a TAP device `wan`, on a star or on both sides of a trunk. Run by rings.py.
//
//   wan_relay namespaces=A,B,… rate=BIT/S limit=BYTES rtt=SECONDS [trunk=1] [loss=SHARE] [seed=N]
//
// Host i (from 0) is 10.77.0.(i + 1). A packet crosses, in this order: its sender's way up (rtt / 4, no
// queue), a drop-tail FIFO of `rate`, and its receiver's way down (rtt / 4). On the star each receiver has a
// FIFO of its own. With trunk=1 the first half of the hosts is on one side and the second half on the other;
// each direction has one FIFO, and packets within a side meet none.
//
// Bytes are those on the wire: the IP packet and 38 of Ethernet's framing, 1538 for a full segment. A FIFO
// counts all that has not left it completely, the packet that it is sending included, and drops a packet for
// which `limit` has no room. `loss`: each packet is lost with this probability on its way up, and again
// behind the FIFO.
//
// Prints "ready". Commands on standard input:
//   outage BEGIN SECONDS   nothing leaves any FIFO in this time; BEGIN is on CLOCK_MONOTONIC, in the future
//   rate BEGIN FACTOR      from then on every FIFO has so many times `rate`, the packet that it sends too
//   delay BEGIN FACTOR     from then on a packet that sets out on a way takes so many times rtt / 4 for it,
//   and
//                          overtakes none
// At the end of its input it prints how many packets it delivered, how many of them late, and what it
// dropped. Lateness is of its own clock: a delivery after the time that was due. How long a packet waited
// before it was read from its device is not seen.
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <iostream>
#include <memory>
#include <queue>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "validation/kernel/arguments.h"

namespace {

using longhaul::kernel::Arguments;
using Nanoseconds = std::int64_t;

constexpr std::size_t kEthernetHeader = 14;
constexpr std::size_t kFraming = 38;  // Ethernet's header, check sequence, preamble and gap

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "wan_relay: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}

Nanoseconds now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

// A host's end: a TAP device, which goes with this process.
struct Tap {
  int descriptor = -1;
  std::array<std::uint8_t, 6> address{};
};

void enter_namespace(int descriptor, const std::string& name) {
  if (descriptor < 0 || setns(descriptor, CLONE_NEWNET) != 0) fail("cannot enter the namespace " + name);
  close(descriptor);
}

Tap open_tap(const std::string& name) {
  const int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  enter_namespace(open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC), name);
  Tap tap;
  tap.descriptor = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  ifreq request{};
  std::strcpy(request.ifr_name, "wan");
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (tap.descriptor < 0 || ioctl(tap.descriptor, TUNSETIFF, &request) != 0) fail("cannot make a TAP device");
  if (ioctl(tap.descriptor, SIOCGIFHWADDR, &request) != 0) fail("the TAP device has no address");
  std::memcpy(tap.address.data(), request.ifr_hwaddr.sa_data, tap.address.size());
  enter_namespace(own, "of before");
  return tap;
}

struct Frame {
  std::array<std::uint8_t, 9216> bytes;  // an MTU of 9001 fits
  std::size_t length = 0;
  int target = 0;

  std::int64_t on_wire() const { return static_cast<std::int64_t>(length - kEthernetHeader + kFraming); }
  bool is_ipv4() const { return length >= 34 && bytes[12] == 8 && bytes[13] == 0; }
};
using FramePointer = std::unique_ptr<Frame>;

struct Fifo {
  std::deque<FramePointer> waiting;  // the front one is being sent
  std::int64_t bytes = 0;
};

enum class Kind { kEnter, kSent, kDeliver };

struct Event {
  Nanoseconds time;
  std::uint64_t number;  // events of one time keep their order
  Kind kind;
  int fifo;
  mutable FramePointer frame;
};

struct IsLater {
  bool operator()(const Event& a, const Event& b) const {
    return a.time != b.time ? a.time > b.time : a.number > b.number;
  }
};

struct Outage {
  Nanoseconds begin, end;
};

// Of a rate or of the delays: holds until the next one's time.
struct Change {
  Nanoseconds time;
  double factor;
};

class Changes {
 public:
  void add(Change change) { changes_.push_back(change); }

  double at(Nanoseconds time) const {
    double factor = 1;
    for (const Change& change : changes_)
      if (change.time <= time) factor = change.factor;
    return factor;
  }
  // Of the next one, or the end of time.
  Nanoseconds next_after(Nanoseconds time) const {
    for (const Change& change : changes_)
      if (change.time > time) return change.time;
    return INT64_MAX;
  }

 private:
  std::vector<Change> changes_;  // in the order of their times
};

struct Counts {
  std::int64_t delivered = 0, late = 0, very_late = 0, dropped = 0, lost = 0;
  Nanoseconds most_late = 0;
};

class Relay {
 public:
  explicit Relay(const Arguments& arguments)
      : ns_per_byte_(8e9 / arguments.number("rate")),
        limit_(static_cast<std::int64_t>(arguments.number("limit"))),
        quarter_(static_cast<Nanoseconds>(arguments.number("rtt") / 4 * 1e9)),
        has_trunk_(arguments.number("trunk", 0) != 0),
        loss_(arguments.number("loss", 0)) {
    std::istringstream names(arguments.text("namespaces"));
    for (std::string name; std::getline(names, name, ',');) taps_.push_back(open_tap(name));
    fifos_ = std::vector<Fifo>(has_trunk_ ? 2 : taps_.size());
    last_up_.resize(taps_.size());
    last_down_.resize(taps_.size());
    const auto seed = static_cast<std::uint64_t>(arguments.number("seed", 1));
    for (std::size_t way = 0; way < 2 * taps_.size(); ++way) losses_.emplace_back(1000 * seed + way);
  }

  const std::vector<Tap>& taps() const { return taps_; }
  const Counts& counts() const { return counts_; }
  void add_outage(const Outage& outage) { outages_.push_back(outage); }
  void add_rate(const Change& change) { rates_.add(change); }
  void add_delay(const Change& change) { delays_.add(change); }

  // All that waits in a host's device.
  void take_from(int host) {
    while (true) {
      FramePointer frame = std::make_unique<Frame>();
      const ssize_t length = read(taps_[index(host)].descriptor, frame->bytes.data(), frame->bytes.size());
      if (length < 0) {
        if (errno != EAGAIN && errno != EIO) fail("cannot read from a TAP device");  // EIO: it is down
        return;
      }
      frame->length = static_cast<std::size_t>(length);
      frame->target = frame->is_ipv4() ? frame->bytes[33] - 1 : -1;
      if (frame->target < 0 || frame->target >= hosts()) continue;  // not for a host, such as IPv6's queries
      send(host, std::move(frame), now_ns());
    }
  }

  // Runs what is due; returns how long nothing more will be, or −1 if nothing is pending.
  Nanoseconds run_due() {
    while (!events_.empty()) {
      const Nanoseconds wait = events_.top().time - now_ns();
      if (wait > 0) return wait;
      const Event& top = events_.top();
      const Nanoseconds time = top.time;
      const Kind kind = top.kind;
      const int fifo = top.fifo;
      FramePointer frame = std::move(top.frame);
      events_.pop();
      if (kind == Kind::kEnter) enter(fifo, std::move(frame), time);
      if (kind == Kind::kSent) sent(fifo, time);
      if (kind == Kind::kDeliver) deliver(*frame, time);
    }
    return -1;
  }

 private:
  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  int hosts() const { return static_cast<int>(taps_.size()); }
  int side(int host) const { return 2 * host < hosts() ? 0 : 1; }

  bool is_lost(std::size_t way) {
    if (loss_ <= 0 || uniform_(losses_[way]) >= loss_) return false;
    ++counts_.lost;
    return true;
  }

  void schedule(Nanoseconds time, Kind kind, int fifo, FramePointer frame) {
    events_.push({time, ++number_, kind, fifo, std::move(frame)});
  }

  void deliver_later(Nanoseconds time, int fifo, FramePointer& frame) {
    schedule(time, Kind::kDeliver, fifo, std::move(frame));
  }

  void send(int host, FramePointer frame, Nanoseconds time) {
    if (is_lost(index(host))) return;
    if (has_trunk_ && side(host) == side(frame->target)) {
      if (!is_lost(taps_.size() + index(frame->target)))
        deliver_later(arrival(time, 2, last_down_[index(frame->target)]), -1, frame);
      return;
    }
    const int fifo = has_trunk_ ? side(host) : frame->target;
    schedule(arrival(time, 1, last_up_[index(host)]), Kind::kEnter, fifo, std::move(frame));
  }

  // Behind so many ways of rtt / 4, and not before `last`, which it becomes.
  Nanoseconds arrival(Nanoseconds time, int ways, Nanoseconds& last) const {
    last = std::max(last,
                    time + static_cast<Nanoseconds>(ways * static_cast<double>(quarter_) * delays_.at(time)));
    return last;
  }

  // When a FIFO that begins to send so many bytes is done, at the rates of the time.
  Nanoseconds end_of_sending(Nanoseconds time, double bytes) const {
    while (true) {
      const double ns_per_byte = ns_per_byte_ / rates_.at(time);
      const Nanoseconds end = time + static_cast<Nanoseconds>(ns_per_byte * bytes),
                        next = rates_.next_after(time);
      if (end <= next) return end;
      bytes -= static_cast<double>(next - time) / ns_per_byte;
      time = next;
    }
  }

  void enter(int number, FramePointer frame, Nanoseconds time) {
    Fifo& fifo = fifos_[index(number)];
    if (fifo.bytes + frame->on_wire() > limit_) {
      ++counts_.dropped;
      return;
    }
    fifo.bytes += frame->on_wire();
    fifo.waiting.push_back(std::move(frame));
    if (fifo.waiting.size() == 1) begin_sending(number, time);
  }

  void begin_sending(int number, Nanoseconds time) {
    const auto bytes = static_cast<double>(fifos_[index(number)].waiting.front()->on_wire());
    const Nanoseconds took = end_of_sending(time, bytes) - time;
    for (const Outage& outage : outages_) {
      if (time >= outage.begin && time < outage.end)
        time = outage.end;
      else if (time < outage.begin && time + took > outage.begin)
        time += outage.end - outage.begin;
    }
    schedule(time + took, Kind::kSent, number, nullptr);
  }

  void sent(int number, Nanoseconds time) {
    Fifo& fifo = fifos_[index(number)];
    FramePointer frame = std::move(fifo.waiting.front());
    fifo.waiting.pop_front();
    fifo.bytes -= frame->on_wire();
    if (!fifo.waiting.empty()) begin_sending(number, time);
    if (!is_lost(taps_.size() + index(frame->target)))
      deliver_later(arrival(time, 1, last_down_[index(frame->target)]), number, frame);
  }

  void deliver(Frame& frame, Nanoseconds time) {
    const Tap& tap = taps_[index(frame.target)];
    std::memcpy(frame.bytes.data(), tap.address.data(), tap.address.size());
    if (write(tap.descriptor, frame.bytes.data(), frame.length) < 0 && errno != EIO)
      fail("cannot write to a TAP device");
    const Nanoseconds late = now_ns() - time;
    ++counts_.delivered;
    counts_.late += late > 200'000;
    counts_.very_late += late > 2'000'000;
    if (late > counts_.most_late) counts_.most_late = late;
  }

  double ns_per_byte_;
  std::int64_t limit_;
  Nanoseconds quarter_;
  bool has_trunk_;
  double loss_;
  std::vector<Tap> taps_;
  std::vector<Fifo> fifos_;  // by receiver, or by the side that sends
  std::vector<Outage> outages_;
  Changes rates_, delays_;
  std::vector<Nanoseconds> last_up_, last_down_;  // arrivals, by host
  std::vector<std::mt19937_64> losses_;  // by host, ways up and then ways down
  std::uniform_real_distribution<double> uniform_{0, 1};
  std::priority_queue<Event, std::vector<Event>, IsLater> events_;
  std::uint64_t number_ = 0;
  Counts counts_;
};

// False at the end of the input.
bool read_command(Relay& relay) {
  std::string line;
  if (!std::getline(std::cin, line)) return false;
  std::istringstream words(line);
  std::string command;
  double begin_s, number;
  if (!(words >> command >> begin_s >> number)) fail("what is: " + line);
  const auto begin = static_cast<Nanoseconds>(begin_s * 1e9);
  if (command == "outage")
    relay.add_outage({begin, begin + static_cast<Nanoseconds>(number * 1e9)});
  else if (command == "rate")
    relay.add_rate({begin, number});
  else if (command == "delay")
    relay.add_delay({begin, number});
  else
    fail("what is: " + line);
  return true;
}

void watch(int poll, int descriptor, int number) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = number;
  if (epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("cannot wait for a device");
}

void run(Relay& relay) {
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  const int hosts = static_cast<int>(relay.taps().size());
  for (int host = 0; host < hosts; ++host)
    watch(poll, relay.taps()[static_cast<std::size_t>(host)].descriptor, host);
  watch(poll, STDIN_FILENO, hosts);
  std::puts("ready");
  std::fflush(stdout);
  std::array<epoll_event, 64> ready;
  while (true) {
    const Nanoseconds wait = relay.run_due();
    const timespec timeout{wait / 1'000'000'000, wait % 1'000'000'000};
    const int count = epoll_pwait2(poll, ready.data(), static_cast<int>(ready.size()),
                                   wait < 0 ? nullptr : &timeout, nullptr);
    if (count < 0 && errno != EINTR) fail("cannot wait");
    for (int i = 0; i < count; ++i) {
      const int number = ready[static_cast<std::size_t>(i)].data.fd;
      if (number < hosts)
        relay.take_from(number);
      else if (!read_command(relay))
        return;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments("wan_relay", argc, argv);
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) fail("cannot lock memory");
  Relay relay(arguments);
  run(relay);
  const Counts& counts = relay.counts();
  std::printf("delivered %lld late %lld very_late %lld most_late_ms %.3f dropped %lld lost %lld\n",
              static_cast<long long>(counts.delivered), static_cast<long long>(counts.late),
              static_cast<long long>(counts.very_late), static_cast<double>(counts.most_late) / 1e6,
              static_cast<long long>(counts.dropped), static_cast<long long>(counts.lost));
}
