#include "emulation/world.h"

#include <fmt/core.h>

#include <cmath>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "emulation/host.h"
#include "net/tcp/framing.h"

namespace longhaul {

const std::map<std::string, std::string_view>& world_files();  // embedded world.sh

namespace {

constexpr int kMostHosts = 64;
constexpr double kBurst_s = 5e-4;  // of a token bucket: how late a busy machine may be
constexpr int kLeastFrames = 2;    // of a burst
constexpr int kQueueBytes = 12;    // that the kernel may count more than a frame has

void refuse(bool is_so, const std::string& path, const std::string& found, const std::string& allowed,
            const std::string& hint = "leave it out, or use longhaul run") {
  if (is_so) throw InputError(path, "found " + found + ", which cannot be emulated", allowed, hint);
}

std::vector<std::string> congestion_controls_here() {
  std::ifstream file("/proc/sys/net/ipv4/tcp_available_congestion_control");
  std::vector<std::string> names;
  for (std::string name; file >> name;) names.push_back(name);
  return names;
}

void check_tcp(const TcpSpec& tcp) {
  refuse(tcp.queue != "host", "network.tcp.queue", '"' + tcp.queue + '"', "\"host\"");
  refuse(tcp.trunk_queue != "same", "network.tcp.trunk_queue", '"' + tcp.trunk_queue + '"', "\"same\"");
  refuse(tcp.qdisc != "pfifo_fast", "network.tcp.qdisc", '"' + tcp.qdisc + '"', "\"pfifo_fast\"");
  refuse(tcp.window.has_value(), "network.tcp.window", "a limit", "\"unlimited\"");
  const std::vector<std::string> known = congestion_controls_here();
  const auto check_known = [&](const std::string& control, const std::string& path) {
    if (!contains(known, control))
      throw InputError(path, fmt::format("found \"{}\", which this kernel lacks", control), join(known),
                       "modprobe tcp_" + control);
  };
  check_known(tcp.congestion_control, "network.tcp.congestion_control");
  for (const std::string& control : tcp.host_controls) check_known(control, "network.tcp.hosts");
}

// The direction by which all that a host sends leaves it; -1: there are several.
LinkDirection way_out(const Topology& topology, int host) {
  LinkDirection found = -1;
  for (int other = 0; other < topology.replicas(); ++other) {
    if (other == host) continue;
    const LinkDirection first = topology.path(host, other).directions.front();
    if (found >= 0 && first != found) return -1;
    found = first;
  }
  return found;
}

void check_links(const Topology& topology) {
  for (int host = 0; host < topology.replicas(); ++host) {
    refuse(topology.is_mesh() || way_out(topology, host) < 0, "network.topology",
           "several links of one replica", "a topology in which each replica has one link, as star");
    for (int other = 0; other < topology.replicas(); ++other)
      refuse(other != host && topology.connection_cap(host, other) != kUnlimited, "network.topology",
             "a matrix that limits single connections", "a topology of links, as star or hierarchical");
  }
}

// Its number, address, rate in bit/s, the burst of its token bucket in bytes, and its congestion control.
std::string host_line(const Topology& topology, const TcpSpec& tcp, int host) {
  const double rate = topology.rate(way_out(topology, host));
  const std::int64_t least = kLeastFrames * (tcp.segment + kHeaderBytes + kQueueBytes);
  return fmt::format("{} {} {:.0f} {} {}", host, address_of(host), rate,
                     std::max<std::int64_t>(least, std::llround(rate / 8 * kBurst_s)),
                     tcp.congestion_control_of(host));
}

// A value in the shell, in single quotes.
std::string quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

void check_emulated(const Case& config, const Topology& topology) {
  const NetworkSpec& network = config.network;
  refuse(config.train.has_value(), "train", "a training", "a scenario that simulates only the network",
         "leave train out: workload.steps says how many steps");
  refuse(!config.faults.empty(), "faults", "faults", "none");
  refuse(network.message_time.has_value(), "network.message_time", "drawn times", "links");
  refuse(!network.variation.is_empty(), "network.variation", "a network that changes", "none");
  refuse(config.hosts() > kMostHosts, "replicas", fmt::format("{} hosts", config.hosts()),
         fmt::format("at most {}", kMostHosts));
  check_tcp(network.tcp);
  check_links(topology);
}

std::string world_script(const Case& config, const Topology& topology, const std::string& longhaul) {
  const TcpSpec& tcp = config.network.tcp;
  std::vector<std::string> hosts;
  for (int host = 0; host < topology.replicas(); ++host) hosts.push_back(host_line(topology, tcp, host));
  const std::vector<std::pair<std::string, std::string>> values = {
      {"longhaul", longhaul},
      {"size", std::to_string(hosts.size())},
      {"master", address_of(0)},
      {"idle", tcp.slow_start_after_idle ? "1" : "0"},
      {"mtu", std::to_string(tcp.segment + kIpTcpBytes)},
      {"overhead", std::to_string(kEthernetBytes)},
      {"hosts", join(hosts, "\n")},
      {"case_json", config.resolved.dump()}};
  std::string script =
      "#!/bin/sh\n# The network of a case of Longhaul on this machine, made by longhaul emulate.\n";
  for (const auto& [name, value] : values) script += name + "=" + quoted(value) + "\n";
  return script + std::string(world_files().at("world.sh"));
}

}  // namespace longhaul
