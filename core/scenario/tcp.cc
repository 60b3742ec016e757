// The section `network.tcp`: an option is a field of TcpSpec, its declaration and its reading here.
#include <fmt/core.h>

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "core/scenario/network_spec.h"
#include "core/scenario/scenario_options.h"

namespace longhaul {
namespace {

Node hosts_options() {
  return list_of("hosts",
                 section("", {either("replicas", {integer("").at_least(0), text("")})
                                  .required()
                                  .means("a replica, a range as \"3-7\", or \"all\"; with stages, workers"),
                              integer("every").at_least(1).by_default(1).means(
                                  "of these only the first and each so many after it: 2 is every second one"),
                              choice("congestion_control", {"cubic", "reno", "bbr"})
                                  .required()
                                  .means("of what they send")}))
      .means(
          "replicas with a congestion control of their own, in this order: the last one wins (fidelity "
          "linux)");
}

}  // namespace

Node tcp_options() {
  return section(
             "tcp",
             {either("window", {choice("", {"unlimited"}), bytes("").above(0)})
                  .by_default("unlimited")
                  .means("largest window of one connection"),
              integer("connections")
                  .at_least(1)
                  .by_default(1)
                  .means("parallel connections from one replica to another; a transfer is split evenly "
                         "over them"),
              choice("congestion_control", {"cubic", "reno", "bbr"})
                  .by_default("cubic")
                  .means("of the senders; bbr: Linux's version 1 in linux and flow (queue host), ns-3's in "
                         "packet (no loss, no fifo below 1.5 products)"),
              hosts_options(),
              choice("qdisc", {"pfifo_fast", "fq"})
                  .by_default("pfifo_fast")
                  .means("the host's own queue, as tc names it. pfifo_fast: only bbr is paced, by its "
                         "sockets; fq: every connection is, cubic and reno at twice their window a round "
                         "trip in slow start, 1.2 times behind it (fidelity linux)"),
              choice("queue", {"host", "fq_codel", "fifo"})
                  .by_default("host")
                  .means("host: fair queueing at the sender without local drops (a tuned Linux host); "
                         "fq_codel; fifo: drops what comes when it is full (fidelities linux and packet)"),
              choice("trunk_queue", {"same", "fifo"})
                  .by_default("same")
                  .means("of links between routers: same as queue; fifo: of queue_size, while the links of "
                         "the replicas keep queue (fidelities linux and packet)"),
              either("queue_size", {number("").above(0), bytes("").above(0)})
                  .by_default(1)
                  .means("of a fifo at every link: a number of bandwidth-delay products (of the link and the "
                         "longest round trip over it; at least 20 packets), or bytes"),
              boolean("ecn").by_default(false).means(
                  "explicit congestion notification, with fq_codel; flow takes every signal for a mark"),
              number("loss").at_least(0).at_most(0.5).by_default(0).means(
                  "probability that a packet is lost on a link. Losses of a path's links combine: to 1 % in "
                  "all, 0.2 % with bbr, and in linux to 9.75 and 2 %; more is for longhaul emulate alone"),
              choice("loss_response", {"linux", "ns3-3.37"})
                  .by_default("linux")
                  .means("what CUBIC does between random losses: linux: never below Reno (RFC 8312, 4.2); "
                         "ns3-3.37: the cubic alone, as in fidelity packet"),
              integer("segment").at_least(536).at_most(65483).by_default(1448).in("bytes").means(
                  "TCP payload of one packet"),
              boolean("slow_start_after_idle")
                  .by_default(true)
                  .means("a connection that was silent for longer than its time-out starts again with a "
                         "smaller window (RFC 2861; net.ipv4.tcp_slow_start_after_idle); "
                         "false: it keeps its window")})
      .filled()
      .means("how a transfer is carried");
}

namespace {

void parse_queue_size(const Json& json, TcpSpec& tcp) {
  const Json& size = json.at("queue_size");
  if (size.is_number()) {
    tcp.queue_products = size;
    return;
  }
  constexpr int kLeastSegments = 2;  // a smaller one would never let a packet pass behind another
  tcp.queue_bytes = parse_bytes(size);
  const double least = kLeastSegments * json.at("segment").get<double>();
  if (*tcp.queue_bytes < least)
    throw InputError("network.tcp.queue_size", "found " + size.dump(),
                     fmt::format("at least {} segments, {}", kLeastSegments, human_bytes(least)),
                     "a number means bandwidth-delay products");
}

// By replica; empty where all send with the section's own.
std::vector<std::string> parse_hosts(const Json& json, const std::string& of_all, int replicas) {
  std::vector<std::string> controls(as_index(replicas), of_all);
  for (std::size_t i = 0; i < json.size(); ++i) {
    const Json& hosts = json[i];
    const auto [first, last] = parse_replica_range(hosts.at("replicas"), replicas,
                                                   element_path("network.tcp.hosts", i) + ".replicas");
    for (int replica = first; replica <= last; replica += hosts.at("every").get<int>())
      controls[as_index(replica)] = hosts.at("congestion_control").get<std::string>();
  }
  if (none_of(controls, [&](const std::string& control) { return control != of_all; })) controls.clear();
  return controls;
}

}  // namespace

const std::string& TcpSpec::congestion_control_of(int replica) const {
  return host_controls.empty() ? congestion_control : host_controls.at(as_index(replica));
}

bool TcpSpec::has_control(const std::string& control) const {
  return host_controls.empty() ? congestion_control == control : contains(host_controls, control);
}

bool TcpSpec::has_only(const std::string& control) const {
  return host_controls.empty()
             ? congestion_control == control
             : none_of(host_controls, [&](const std::string& of_host) { return of_host != control; });
}

TcpSpec parse_tcp(const Json& json, int replicas) {
  TcpSpec tcp;
  if (json.at("window") != "unlimited") tcp.window = parse_bytes(json["window"]);
  tcp.connections = json.at("connections");
  tcp.congestion_control = json.at("congestion_control").get<std::string>();
  tcp.host_controls = parse_hosts(json.value("hosts", Json::array()), tcp.congestion_control, replicas);
  tcp.queue = json.at("queue").get<std::string>();
  // Absent from a case that was resolved before there was a choice.
  tcp.qdisc = json.value("qdisc", tcp.qdisc);
  tcp.trunk_queue = json.value("trunk_queue", tcp.trunk_queue);
  parse_queue_size(json, tcp);
  tcp.ecn = json.at("ecn");
  tcp.loss = json.at("loss");
  tcp.loss_response = json.at("loss_response").get<std::string>();
  tcp.segment = json.at("segment");
  tcp.slow_start_after_idle = json.value("slow_start_after_idle", true);
  if (tcp.ecn && tcp.queue != "fq_codel")
    throw InputError("network.tcp.ecn", fmt::format("found true with queue \"{}\"", tcp.queue),
                     "only with queue \"fq_codel\"", "the other queues do not mark");
  return tcp;
}

}  // namespace longhaul
