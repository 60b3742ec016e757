#include "emulation/kernel_network.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>

#include "core/base/errors.h"
#include "emulation/host.h"
#include "emulation/lateness.h"
#include "emulation/real_clock.h"
#include "net/tcp/framing.h"
#include "replay/network/network.h"
#include "replay/replay.h"

namespace longhaul {
namespace {

constexpr int kHostPriority = 10, kMillisecondsToLook = 100;
constexpr int kControlBytes = 16 << 20;  // of messages that a host has not read yet

class KernelNetwork : public Network {
 public:
  // Starts the hosts, returns when all of `ends` are connected, and begins the clock. `topology` and `clock`
  // must outlive it. Throws RunError.
  KernelNetwork(const TcpSpec& tcp, const Topology& topology, const std::vector<std::pair<int, int>>& ends,
                RealClock& clock)
      : tcp_(tcp),
        topology_(topology),
        clock_(clock),
        loads_(2 * as_index(topology.link_count())),
        hosts_(as_index(topology.replicas())) {
    for (int host = 0; host < topology.replicas(); ++host) start_host(host, ends);
    for (const Host& host : hosts_) {
      HostMessage connected;
      pollfd ready{host.control, POLLIN, 0};
      // An interrupt ends the links' processes too.
      while (poll(&ready, 1, kMillisecondsToLook) <= 0) check_interrupt();
      if (recv(host.control, &connected, sizeof connected, 0) != sizeof connected)
        throw RunError("the hosts cannot be connected (log.txt says why)");
    }
    for (int host = 0; host < topology.replicas(); ++host)
      clock.watch(hosts_[as_index(host)].control, [this, host] { read_reports(host); });
    be_first(kHostPriority);
    clock.begin();
  }

  ~KernelNetwork() override {
    for (const Host& host : hosts_) {
      if (host.control >= 0) close(host.control);
      if (host.process > 0) waitpid(host.process, nullptr, 0);
    }
  }

  // Evenly over the connections; a share is no shorter than what says which it is.
  void send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts = nullptr) override {
    const std::int64_t number = messages_++, bytes = transfer.bytes;
    UnderWay& message = under_way_[number];
    message = {transfer, std::move(on_arrival), parts, clock_.now_s(), 0};
    loads_.begin(topology_.path(transfer.source, transfer.target).directions, clock_.now_s());
    for (int i = 0; i < tcp_.connections; ++i) {
      const std::int64_t share = bytes * (i + 1) / tcp_.connections - bytes * i / tcp_.connections;
      if (share == 0) continue;
      const std::int64_t least = sizeof(HostMessage);
      const HostMessage command{number, std::max(share, least), transfer.target, i};
      if (::send(hosts_[as_index(transfer.source)].control, &command, sizeof command, MSG_NOSIGNAL) !=
          sizeof command)
        throw RunError("host " + std::to_string(transfer.source) + " has ended (log.txt says why)");
      ++message.shares;
    }
    clock_.await_input();
  }

  const std::vector<LinkLoad>& loads() override { return loads_.loads(); }

 private:
  struct Host {
    pid_t process = -1;
    int control = -1;
  };
  struct UnderWay {
    Transmission transfer;
    Arrival on_arrival;
    SyncParts* parts = nullptr;
    double begun_s = 0;
    int shares = 0;  // that have not arrived
  };

  void start_host(int number, const std::vector<std::pair<int, int>>& ends) {
    HostPlan plan{number, {}, 0, tcp_};
    for (const auto& [source, target] : ends) {
      if (source == number) plan.targets.push_back(target);
      if (target == number) plan.incoming += tcp_.connections;
    }
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
      throw RunError(std::string("no pair of sockets: ") + std::strerror(errno));
    for (const int end : sockets)
      setsockopt(end, SOL_SOCKET, SO_SNDBUFFORCE, &kControlBytes, sizeof kControlBytes);
    const pid_t child = fork();
    if (child < 0) throw RunError(std::string("no process: ") + std::strerror(errno));
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (const int signal : {SIGINT, SIGTERM}) ::signal(signal, SIG_IGN);  // the network ends its hosts
      close(sockets[0]);
      for (const Host& other : hosts_)
        if (other.control >= 0) close(other.control);
      try {
        be_first(kHostPriority);
        serve_as_host(plan, sockets[1]);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "host %d: %s\n", number, error.what());
        _exit(kRunFailed);
      }
      _exit(kDone);
    }
    close(sockets[1]);
    hosts_[as_index(number)] = {child, sockets[0]};
  }

  void read_reports(int host) {
    HostMessage report;
    ssize_t got = 0;
    const int control = hosts_[as_index(host)].control;
    while ((got = recv(control, &report, sizeof report, MSG_DONTWAIT)) == sizeof report)
      if (--under_way_.at(report.number).shares == 0) arrive(report.number);
    if (got == 0) throw RunError("host " + std::to_string(host) + " has ended (log.txt says why)");
    beat();
  }

  void arrive(std::int64_t number) {
    const UnderWay message = std::move(under_way_.extract(number).mapped());
    const Transmission& transfer = message.transfer;
    const ConnectionFacts facts = connection_facts(topology_, tcp_, transfer.source, transfer.target);
    loads_.end(facts.data, clock_.now_s());
    const std::int64_t segments = (transfer.bytes + tcp_.segment - 1) / tcp_.segment;
    for (const LinkDirection direction : facts.data)
      loads_.add_bytes(direction, transfer.bytes + segments * kHeaderBytes);
    if (message.parts)
      *message.parts += known_parts(topology_, facts, tcp_, transfer.bytes, clock_.now_s() - message.begun_s);
    clock_.got_input();
    message.on_arrival();
  }

  TcpSpec tcp_;
  const Topology& topology_;
  RealClock& clock_;
  LinkLoads loads_;
  std::vector<Host> hosts_;
  std::map<std::int64_t, UnderWay> under_way_;  // by the number of the message
  std::int64_t messages_ = 0;
};

}  // namespace

Json emulated_replay(const Case& config, const Trace& trace, const std::string& folder,
                     ProgressReporter& reporter) {
  RealClock clock;
  const auto network_of = [&](const NetworkSpec& spec, const Topology& topology, const auto& used_ends,
                              std::uint64_t) {
    return std::make_unique<KernelNetwork>(spec.tcp, topology, used_ends(), clock);
  };
  Json result = replay(config, trace, folder, reporter, clock, network_of);
  const Lateness lateness = lateness_of_world(config.hosts());
  std::ofstream(folder + "/relay.json") << Json({{"packets", lateness.packets},
                                                 {"late", lateness.late},
                                                 {"dropped", lateness.dropped},
                                                 {"words", lateness_in_words(lateness)}})
                                        << '\n';
  return result;
}

}  // namespace longhaul
