#include "validation/kernel/ring_hosts.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "validation/kernel/delay_relay.h"

namespace longhaul {
namespace {

constexpr int kPort = 5000, kMostMembers = 64, kMostExchanges = 64;
constexpr double kGiveUp_s = 300;

double now_s() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void sleep_until(double when_s) {
  for (double left = when_s - now_s(); left > 0; left = when_s - now_s())
    usleep(static_cast<useconds_t>(std::min(left, 0.5) * 1e6) + 1);
}

// What members know of each other without a network. 0: not yet.
struct Shared {
  std::atomic<double> posted_s[kMostExchanges][kMostMembers];
  std::atomic<double> done_s[kMostExchanges][kMostMembers];
  std::atomic<int> connected;
};

void require(bool is_so, const char* what) {
  if (!is_so) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

void set_host(const char* setting, const std::string& value) {
  std::ofstream file(std::string("/proc/sys/net/ipv4/") + setting);
  file << value << std::flush;
  require(static_cast<bool>(file), setting);
}

sockaddr_in address_of(int member, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(0x0a090000u + static_cast<unsigned>(member) + 1);
  return address;
}

// A TUN device `wan` in the namespace of this process, up, with the member's address.
int open_tun(int member) {
  const int tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  require(tun >= 0, "/dev/net/tun");
  ifreq request{};
  std::strcpy(request.ifr_name, "wan");
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  require(ioctl(tun, TUNSETIFF, &request) == 0, "TUNSETIFF");
  const int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const auto set = [&](unsigned long what, sockaddr_in address) {
    std::memcpy(&request.ifr_addr, &address, sizeof address);
    require(ioctl(control, what, &request) == 0, "an address");
  };
  set(SIOCSIFADDR, address_of(member, 0));
  sockaddr_in mask = address_of(member, 0);
  mask.sin_addr.s_addr = htonl(0xffffff00u);
  set(SIOCSIFNETMASK, mask);
  request.ifr_mtu = 1500;
  require(ioctl(control, SIOCSIFMTU, &request) == 0, "an MTU");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  require(ioctl(control, SIOCSIFFLAGS, &request) == 0, "device up");
  close(control);
  return tun;
}

void set_up_host(const KernelRing& ring) {
  set_host("tcp_no_metrics_save", "1");
  set_host("tcp_rmem", "4096 131072 67108864");
  set_host("tcp_wmem", "4096 65536 67108864");
  set_host("tcp_slow_start_after_idle", ring.slow_start_after_idle ? "1" : "0");
  // IP packets of 1500 bytes count as Ethernet's 1538 on the wire (net/tcp/framing.h).
  const std::string bucket = "tc qdisc add dev wan root tbf rate " +
                             std::to_string(static_cast<std::int64_t>(ring.rate)) +
                             "bit burst 3100 limit 100000000 overhead 38";
  require(std::system(bucket.c_str()) == 0, "tc");
}

void send_descriptor(int socket, int descriptor) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  require(sendmsg(socket, &message, 0) == 1, "sendmsg");
}

int receive_descriptor(int socket) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  if (recvmsg(socket, &message, 0) != 1 || !CMSG_FIRSTHDR(&message))
    throw std::runtime_error("a host could not be set up");
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
  return descriptor;
}

// The member's part of the sum: word i of what it contributes, and of the result.
std::uint32_t contribution(int member, std::size_t word) {
  return static_cast<std::uint32_t>(word) * 2654435761u + static_cast<std::uint32_t>(member) * 40503u;
}

class Member {
 public:
  Member(const KernelRing& ring, int number, Shared& shared)
      : ring_(ring),
        n_(ring.members),
        number_(number),
        shared_(shared),
        vector_(static_cast<std::size_t>(ring.chunk) / 4 * static_cast<std::size_t>(ring.members)),
        scratch_(static_cast<std::size_t>(ring.chunk)) {}

  void run() {
    connect_ring();
    ++shared_.connected;
    while (shared_.connected < n_) usleep(1000);
    for (std::size_t exchange = 0; exchange < ring_.compute_s.size(); ++exchange) run_exchange(exchange);
  }

 private:
  std::int64_t total() const { return 2 * (n_ - 1) * ring_.chunk; }
  char* bytes() { return reinterpret_cast<char*>(vector_.data()); }

  void connect_ring() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    const sockaddr_in own = address_of(number_, kPort), next = address_of((number_ + 1) % n_, kPort);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    require(bind(listener, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0, "bind");
    require(listen(listener, 4) == 0, "listen");
    for (int attempt = 0; out_ < 0; ++attempt) {
      require(attempt < 200, "connect");
      out_ = socket(AF_INET, SOCK_STREAM, 0);
      const std::string& control = ring_.congestion_control;
      require(setsockopt(out_, IPPROTO_TCP, TCP_CONGESTION, control.data(),
                         static_cast<socklen_t>(control.size())) == 0,
              "congestion control");
      if (connect(out_, reinterpret_cast<const sockaddr*>(&next), sizeof next) == 0) break;
      close(out_);
      out_ = -1;
      usleep(50000);
    }
    in_ = accept(listener, nullptr, nullptr);
    require(in_ >= 0, "accept");
    setsockopt(out_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    for (const int number : {in_, out_}) fcntl(number, F_SETFL, O_NONBLOCK);
  }

  void run_exchange(std::size_t exchange) {
    for (std::size_t word = 0; word < vector_.size(); ++word) vector_[word] = contribution(number_, word);
    sleep_until(done_s_ + ring_.compute_s[exchange][static_cast<std::size_t>(number_)]);
    shared_.posted_s[exchange][number_] = now_s();
    sent_ = received_ = reduced_ = 0;
    const double give_up_s = now_s() + kGiveUp_s;
    while (received_ < total() || sent_ < total()) {
      const bool may_begin = shared_.posted_s[exchange][(number_ + 1) % n_] > 0;
      const bool has_data = may_begin && sent_ < allowed();
      pollfd polled[2] = {{in_, POLLIN, 0}, {out_, POLLOUT, 0}};
      poll(polled, has_data ? 2 : 1, may_begin ? 1000 : 1);
      if (received_ < total()) receive();
      if (has_data) send();
      require(now_s() < give_up_s, "the exchange takes too long");
      if (received_ == total() && shared_.done_s[exchange][number_] == 0)
        shared_.done_s[exchange][number_] = done_s_ = now_s();
    }
    check_sum();
  }

  // What may be sent of the stream of 2(n − 1) chunks: the first chunk, and of what has come whole slices.
  std::int64_t allowed() const { return std::min(total(), ring_.chunk + reduced_); }
  std::int64_t to_slices(std::int64_t received) const {
    const std::int64_t whole = received / ring_.chunk * ring_.chunk, part = received - whole;
    return whole + part / ring_.slice * ring_.slice;
  }
  // Where chunk `round` of the stream that member `from` sends lies (net/collectives/ring.cc).
  std::int64_t offset_of(int from, std::int64_t round) const {
    const std::int64_t chunk = round < n_ - 1 ? from - round : from + 1 - (round - (n_ - 1));
    return ((chunk % n_ + n_) % n_) * ring_.chunk;
  }

  void send() {
    const std::int64_t round = sent_ / ring_.chunk, within = sent_ % ring_.chunk;
    const std::int64_t most = std::min(allowed() - sent_, ring_.chunk - within);
    const ssize_t put = ::send(out_, bytes() + offset_of(number_, round) + within,
                               static_cast<std::size_t>(most), MSG_NOSIGNAL);
    require(put > 0 || errno == EAGAIN, "send");
    if (put > 0) sent_ += put;
  }

  void receive() {
    const std::int64_t round = received_ / ring_.chunk, within = received_ % ring_.chunk;
    const ssize_t got =
        recv(in_, scratch_.data() + within, static_cast<std::size_t>(ring_.chunk - within), 0);
    require(got > 0 || (got < 0 && errno == EAGAIN), "receive");
    if (got <= 0) return;
    received_ += got;
    const std::int64_t until = to_slices(received_);
    apply(round, reduced_ - round * ring_.chunk, until - round * ring_.chunk);
    reduced_ = until;
  }

  void apply(std::int64_t round, std::int64_t begin, std::int64_t end) {
    char* here = bytes() + offset_of((number_ + n_ - 1) % n_, round);
    if (round >= n_ - 1) {
      std::memcpy(here + begin, scratch_.data() + begin, static_cast<std::size_t>(end - begin));
      return;
    }
    for (std::int64_t at = begin; at < end; at += 4) {
      std::uint32_t own, other;
      std::memcpy(&own, here + at, 4);
      std::memcpy(&other, scratch_.data() + at, 4);
      own += other;
      std::memcpy(here + at, &own, 4);
    }
  }

  void check_sum() {
    for (std::size_t word = 0; word < vector_.size(); ++word) {
      std::uint32_t expected = 0;
      for (int member = 0; member < n_; ++member) expected += contribution(member, word);
      if (vector_[word] != expected) throw std::runtime_error("the sum is wrong");
    }
  }

  const KernelRing& ring_;
  int n_, number_;
  Shared& shared_;
  std::vector<std::uint32_t> vector_;
  std::vector<char> scratch_;
  int out_ = -1, in_ = -1;
  std::int64_t sent_ = 0, received_ = 0, reduced_ = 0;
  double done_s_ = now_s();
};

// So that a busy machine does not add its own waiting; allowed to fail.
void be_first(int priority) {
  sched_param parameters{};
  parameters.sched_priority = priority;
  sched_setscheduler(0, SCHED_RR, &parameters);
}

// Runs `what` in a child that dies with this process. Its exit status is 0 if nothing was thrown.
template <typename What>
pid_t in_child(What what) {
  const pid_t child = fork();
  require(child >= 0, "fork");
  if (child > 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    what();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kernel ring: %s\n", error.what());
    _exit(1);
  }
  _exit(0);
}

void be_member(const KernelRing& ring, int number, int link, Shared& shared) {
  require(unshare(CLONE_NEWNET) == 0, "unshare");
  const int tun = open_tun(number);
  set_up_host(ring);
  send_descriptor(link, tun);
  be_first(10);
  Member(ring, number, shared).run();
}

}  // namespace

std::string why_no_kernel_rings() {
  if (geteuid() != 0) return "network namespaces and TUN devices need root";
  if (std::system("command -v tc > /dev/null 2>&1") != 0) return "tc (Debian: iproute2) is missing";
  const pid_t child = fork();
  if (child == 0) {
    const bool has_namespace = unshare(CLONE_NEWNET) == 0;
    try {
      if (has_namespace) open_tun(0);
    } catch (const std::exception&) {
      _exit(2);
    }
    _exit(has_namespace ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return WIFEXITED(status) && WEXITSTATUS(status) == 2 ? "no TUN device can be made in a namespace"
                                                       : "no network namespace can be made";
}

std::vector<double> run_kernel_ring(const KernelRing& ring) {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(memory != MAP_FAILED, "mmap");
  Shared& shared = *new (memory) Shared();
  int links[2], stops[2];
  require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, links) == 0, "socketpair");
  require(pipe2(stops, O_CLOEXEC) == 0, "pipe");
  std::vector<pid_t> members;
  std::vector<int> tuns;
  for (int i = 0; i < ring.members; ++i) {
    members.push_back(in_child([&] { be_member(ring, i, links[1], shared); }));
    tuns.push_back(receive_descriptor(links[0]));
  }
  const pid_t relay = in_child([&] {
    close(stops[1]);
    be_first(20);
    relay_packets(tuns, ring.rtt_s / 2, stops[0]);
  });
  bool all_well = true;
  for (std::size_t i = 0; i < members.size(); ++i) {
    int status = 0;
    waitpid(members[i], &status, 0);
    const bool is_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    for (std::size_t later = i + 1; later < members.size() && all_well && !is_well; ++later)
      kill(members[later], SIGKILL);
    all_well = all_well && is_well;
  }
  close(stops[1]);
  waitpid(relay, nullptr, 0);
  for (const int number : {links[0], links[1], stops[0]}) close(number);
  for (const int tun : tuns) close(tun);
  std::vector<double> times;
  for (std::size_t exchange = 0; exchange < ring.compute_s.size(); ++exchange) {
    double start_s = 0, done_s = 0;
    for (int i = 0; i < ring.members; ++i) {
      start_s = std::max(start_s, shared.posted_s[exchange][i].load());
      done_s = std::max(done_s, shared.done_s[exchange][i].load());
    }
    times.push_back(done_s - start_s);
  }
  munmap(memory, sizeof(Shared));
  if (!all_well) throw std::runtime_error("a member of the ring failed");
  return times;
}

}  // namespace longhaul
