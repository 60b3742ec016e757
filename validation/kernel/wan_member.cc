// One host of the exchanges that rings.py measures: real TCP sockets with a thread for each. An end that
// reads its connections one after the other would make Linux slow: a connection that is not read offers a
// smaller window and acknowledges every 40 ms (results/reference/packets.md).
//
//   wan_member host=I members=N pattern=ring|pairs|all-to-all|halving-doubling bytes=B connections=K
//   control=CC wan_member host=I members=N pattern=flow peer=J connections=K control=CC [on=S off=S seed=N]
//
// Host i is 10.77.0.(i + 1). It opens K connections to each host that it sends to; a message is cut into K
// equal parts, one a connection. B is bytes of a message; of the whole vector in halving-doubling, whose
// members exchange B/2 with the neighbour, B/4 with i xor 2 and so on, and the same way back. A round's
// message is passed on once all of the round before has arrived. control: TCP_CONGESTION of what it sends.
//
// A flow sends without end once it is started, or for exponential times of mean `on` with pauses of mean
// `off`; `peer` receives.
//
// Prints "connected". Commands on standard input, each answered with a line:
//   exchange BEGIN   at BEGIN (CLOCK_MONOTONIC, s); the answer is the time until all has arrived here, s
//   start            of a flow
//   received         bytes received so far
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "validation/kernel/arguments.h"

namespace {

using longhaul::kernel::Arguments;

constexpr std::uint16_t kPort = 5000;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "wan_member: %s: %s\n", what.c_str(), std::strerror(errno));
  std::_Exit(1);
}

double now_s() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

void sleep_until(double time_s) {
  timespec time;
  time.tv_sec = static_cast<time_t>(time_s);
  time.tv_nsec = static_cast<long>((time_s - static_cast<double>(time.tv_sec)) * 1e9);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

sockaddr_in address_of(int host) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  address.sin_addr.s_addr = htonl((10u << 24) | (77u << 16) | static_cast<std::uint32_t>(host + 1));
  return address;
}

void set_no_delay(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// What all readers of a host have received, and what the exchange waits for.
class Arrivals {
 public:
  int add_connection() {
    const std::lock_guard<std::mutex> lock(mutex_);
    received_.push_back(0);
    wanted_.push_back(0);
    return static_cast<int>(received_.size()) - 1;
  }

  void received(int connection, std::int64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto number = static_cast<std::size_t>(connection);
    const bool was_missing = received_[number] < wanted_[number];
    received_[number] += bytes;
    if (was_missing && received_[number] >= wanted_[number] && --missing_ == 0) all_here_.notify_all();
  }

  // Waits until each of the connections has `bytes` more than what was waited for before.
  void await(const std::vector<int>& connections, std::int64_t bytes) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (const int connection : connections) {
      const auto number = static_cast<std::size_t>(connection);
      wanted_[number] += bytes;
      missing_ += received_[number] < wanted_[number];
    }
    all_here_.wait(lock, [&] { return missing_ == 0; });
  }

  std::int64_t total() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::int64_t sum = 0;
    for (const std::int64_t bytes : received_) sum += bytes;
    return sum;
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_here_;
  std::vector<std::int64_t> received_, wanted_;  // by connection
  int missing_ = 0;                              // connections that have not all that is waited for
};

void read_for_ever(int socket, Arrivals& arrivals, int connection) {
  std::vector<char> buffer(1 << 18);
  while (true) {
    const ssize_t bytes = recv(socket, buffer.data(), buffer.size(), 0);
    if (bytes <= 0) return;  // the other end is gone, so is the measurement
    arrivals.received(connection, bytes);
  }
}

// The sending end of a connection, with its thread.
class Writer {
 public:
  explicit Writer(int socket) : socket_(socket), thread_([this] { write_for_ever(); }) { thread_.detach(); }

  void write(std::int64_t bytes) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      pending_ += bytes;
    }
    has_work_.notify_one();
  }

 private:
  void write_for_ever() {
    std::vector<char> zeros;
    while (true) {
      std::int64_t bytes;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        has_work_.wait(lock, [this] { return pending_ > 0; });
        bytes = pending_;
        pending_ = 0;
      }
      zeros.resize(static_cast<std::size_t>(bytes));
      for (std::int64_t sent = 0; sent < bytes;) {
        const ssize_t count =
            send(socket_, zeros.data(), static_cast<std::size_t>(bytes - sent), MSG_NOSIGNAL);
        if (count < 0) fail("cannot send");
        sent += count;
      }
    }
  }

  int socket_;
  std::mutex mutex_;
  std::condition_variable has_work_;
  std::int64_t pending_ = 0;
  std::thread thread_;
};

// A message to one host and one from another, in one round. A pattern whose rounds have several has them in
// `others`.
struct Message {
  int to, from;
  std::int64_t bytes;
};
using Round = std::vector<Message>;  // all of them at once

std::vector<Round> rounds_of(const std::string& pattern, int host, int members, std::int64_t bytes) {
  std::vector<Round> rounds;
  if (pattern == "ring") {
    rounds.assign(static_cast<std::size_t>(2 * (members - 1)),
                  {{(host + 1) % members, (host + members - 1) % members, bytes}});
  } else if (pattern == "pairs") {
    const int half = members / 2;  // across a trunk, which is between the halves
    const int partner = (host + half) % members;
    rounds.push_back({{partner, partner, bytes}});
  } else if (pattern == "all-to-all") {
    rounds.emplace_back();
    for (int other = 1; other < members; ++other)
      rounds[0].push_back({(host + other) % members, (host + members - other) % members, bytes});
  } else if (pattern == "halving-doubling") {
    for (int bit = 1; bit < members; bit *= 2)
      rounds.push_back({{host ^ bit, host ^ bit, bytes / (2 * bit)}});
    for (int bit = members / 2; bit >= 1; bit /= 2)
      rounds.push_back({{host ^ bit, host ^ bit, bytes / (2 * bit)}});
  } else if (pattern != "flow") {
    fail("no pattern is called " + pattern);
  }
  return rounds;
}

class Member {
 public:
  explicit Member(const Arguments& arguments)
      : host_(static_cast<int>(arguments.number("host"))),
        members_(static_cast<int>(arguments.number("members"))),
        connections_(static_cast<int>(arguments.number("connections"))),
        control_(arguments.text("control")),
        rounds_(rounds_of(arguments.text("pattern"), host_, members_,
                          static_cast<std::int64_t>(arguments.number("bytes", 0)))),
        writers_(static_cast<std::size_t>(members_) + 8),
        readers_(static_cast<std::size_t>(members_) + 8),
        on_s_(arguments.number("on", 0)),
        off_s_(arguments.number("off", 0)),
        random_(static_cast<std::uint64_t>(arguments.number("seed", 1))) {
    std::vector<int> targets, sources;
    for (const Round& round : rounds_)
      for (const Message& message : round) {
        add_once(targets, message.to);
        add_once(sources, message.from);
      }
    if (rounds_.empty()) targets = sources = {static_cast<int>(arguments.number("peer"))};
    connect_all(targets, static_cast<int>(sources.size()));
  }

  double exchange(double begin_s) {
    sleep_until(begin_s);
    for (const Round& round : rounds_) {
      for (const Message& message : round)
        for (const auto& writer : writers_[static_cast<std::size_t>(message.to)])
          writer->write(message.bytes / connections_);
      for (const Message& message : round)
        arrivals_.await(readers_[static_cast<std::size_t>(message.from)], message.bytes / connections_);
    }
    return now_s() - begin_s;
  }

  void start_flow() {
    for (const int socket : outgoing_) {
      const int most_unsent = 1 << 17;  // a flow stops soon after its pause has begun
      setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most_unsent, sizeof most_unsent);
      std::thread([this, socket, seed = random_()] { flow(socket, seed); }).detach();
    }
  }

  std::int64_t received() { return arrivals_.total(); }

 private:
  static void add_once(std::vector<int>& hosts, int host) {
    for (const int known : hosts)
      if (known == host) return;
    hosts.push_back(host);
  }

  int open_to(int target) const {
    const sockaddr_in address = address_of(target);
    for (int attempt = 0; attempt < 100; ++attempt) {
      const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (setsockopt(one, IPPROTO_TCP, TCP_CONGESTION, control_.data(),
                     static_cast<socklen_t>(control_.size())) != 0)
        fail("no congestion control " + control_);
      set_no_delay(one);
      if (connect(one, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return one;
      close(one);
      usleep(50'000);  // the other side does not listen yet
    }
    fail("cannot connect");
  }

  void connect_all(const std::vector<int>& targets, int sources) {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in own = address_of(host_);
    if (bind(listener, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0 ||
        listen(listener, 128) != 0)
      fail("cannot listen as host " + std::to_string(host_));
    for (const int target : targets)
      for (int i = 0; i < connections_; ++i) {
        const int socket = open_to(target);
        outgoing_.push_back(socket);
        if (!rounds_.empty())
          writers_[static_cast<std::size_t>(target)].push_back(std::make_unique<Writer>(socket));
      }
    for (int i = 0; i < sources * connections_; ++i) {
      sockaddr_in peer{};
      socklen_t size = sizeof peer;
      const int socket = accept4(listener, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC);
      if (socket < 0) fail("cannot accept");
      set_no_delay(socket);
      const auto source = static_cast<std::size_t>((ntohl(peer.sin_addr.s_addr) & 0xff) - 1);
      const int connection = arrivals_.add_connection();
      readers_.at(source).push_back(connection);
      std::thread([this, socket, connection] { read_for_ever(socket, arrivals_, connection); }).detach();
    }
  }

  void flow(int socket, std::uint64_t seed) const {
    const std::vector<char> zeros(1 << 16);
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> exponential(1);
    while (true) {
      const double end_s = off_s_ > 0 ? now_s() + on_s_ * exponential(random) : 1e300;
      while (now_s() < end_s)
        if (send(socket, zeros.data(), zeros.size(), MSG_NOSIGNAL) < 0) return;
      sleep_until(now_s() + off_s_ * exponential(random));
    }
  }

  int host_, members_, connections_;
  std::string control_;
  std::vector<Round> rounds_;
  Arrivals arrivals_;
  std::vector<int> outgoing_;                                  // sockets
  std::vector<std::vector<std::unique_ptr<Writer>>> writers_;  // by target
  std::vector<std::vector<int>> readers_;                      // by source, numbers of `arrivals_`
  double on_s_, off_s_;
  std::mt19937_64 random_;
};

void serve(Member& member) {
  std::puts("connected");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    double begin_s = 0;
    words >> command >> begin_s;
    if (command == "exchange") {
      std::printf("%.6f\n", member.exchange(begin_s));
    } else if (command == "start") {
      member.start_flow();
      std::puts("started");
    } else if (command == "received") {
      std::printf("%lld\n", static_cast<long long>(member.received()));
    } else {
      fail("what is: " + line);
    }
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments("wan_member", argc, argv);
  Member member(arguments);
  serve(member);
  std::_Exit(0);  // threads still read and write
}
