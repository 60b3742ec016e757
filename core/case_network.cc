// The section `network` of a resolved case: topology, TCP, and what a fidelity can carry.
#include <cmath>
#include <limits>

#include "core/case_parts.h"
#include "core/errors.h"
#include "core/units.h"

namespace longhaul {
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
    throw InputError("network.tcp.queue_size", "found \"" + size.get<std::string>() + "\"",
                     "at least " + std::to_string(kLeastSegments) + " segments, " + human_bytes(least),
                     "a number means bandwidth-delay products");
}

MessageTimeSpec parse_message_time(const Json& json) {
  const MessageTimeSpec time{parse_duration(json.at("mean")), parse_duration(json.at("std"))};
  if (time.mean == 0 && time.std > 0)
    throw InputError("network.message_time.std", "found \"" + json["std"].get<std::string>() + "\"",
                     "\"0s\" where the mean is 0", "a time of mean 0 cannot spread");
  return time;
}

// A drawn time is the whole time of a message. Which topology takes it, net/topologies/registry.cc checks.
void check_message_time(const NetworkSpec& network) {
  if (!network.message_time) return;
  const std::string path = "network.message_time";
  if (!network.overrides.empty())
    throw InputError("network.overrides", "found beside network.message_time", "one of the two",
                     "a drawn time does not depend on the links");
  if (network.fidelity == "packet")
    throw InputError(path, "found with fidelity \"packet\"", "fidelity \"analytic\" or \"flow\"",
                     "packets take the time that the links give them");
}

SliceSpec parse_slice(const Json& json) {
  if (json == "whole") return {};
  if (json == "nccl") return {SliceSpec::Kind::kNccl, 0};
  if (json == "gloo") return {SliceSpec::Kind::kGloo, 0};
  return {SliceSpec::Kind::kBytes, std::llround(parse_bytes(json))};
}

double parse_eager(const Json& json) {
  return json == "unlimited" ? std::numeric_limits<double>::infinity() : parse_bytes(json);
}

// A drawn time is that of a whole message whose two ends are ready.
void check_sending(const NetworkSpec& network) {
  if (!network.message_time) return;
  const std::string hint = "a drawn time is that of a whole message";
  if (network.slice.kind != SliceSpec::Kind::kWhole)
    throw InputError("network.slice", "found beside network.message_time", "\"whole\"", hint);
  if (network.eager > 0)
    throw InputError("network.eager", "found beside network.message_time", "\"0B\"", hint);
}

TcpSpec parse_tcp(const Json& json) {
  TcpSpec tcp;
  if (json.at("window") != "unlimited") tcp.window = parse_bytes(json["window"]);
  tcp.connections = json.at("connections");
  tcp.congestion_control = json.at("congestion_control").get<std::string>();
  tcp.queue = json.at("queue").get<std::string>();
  // Absent from a case that was resolved before there was a choice.
  tcp.trunk_queue = json.value("trunk_queue", tcp.trunk_queue);
  tcp.accept_error = json.value("accept_error", false);
  parse_queue_size(json, tcp);
  tcp.ecn = json.at("ecn");
  tcp.loss = json.at("loss");
  tcp.loss_response = json.at("loss_response").get<std::string>();
  tcp.segment = json.at("segment");
  tcp.slow_start_after_idle = json.value("slow_start_after_idle", true);
  tcp.rtt_exponent = json.at("rtt_exponent");
  if (tcp.ecn && tcp.queue != "fq_codel")
    throw InputError("network.tcp.ecn", "found true with queue \"" + tcp.queue + "\"",
                     "only with queue \"fq_codel\"", "the other queues do not mark");
  return tcp;
}

void check_fidelity(const NetworkSpec& network) {
  if (network.fidelity == "packet" && network.tcp.loss > 0 && network.tcp.loss_response != "ns3-3.37")
    throw InputError("network.tcp.loss_response",
                     "found \"" + network.tcp.loss_response + "\" with fidelity \"packet\" and random loss",
                     "\"ns3-3.37\"", "packets are ns-3's own and know no other response");
  if (network.fidelity != "flow") return;
  if (network.tcp.congestion_control == "bbr")
    throw InputError("network.tcp.congestion_control", "found \"bbr\" with fidelity \"flow\"",
                     "\"cubic\", \"reno\", or fidelity \"packet\"",
                     "flow has windows that acknowledgements clock, and BBR paces by a model of the path");
  if (network.tcp.trunk_queue == "fifo" && network.tcp.queue != "fifo")
    throw InputError(
        {"", "network.tcp.trunk_queue", "found \"fifo\" with fidelity \"flow\"",
         "\"same\", or fidelity \"packet\"",
         "connections that share a FIFO lose packets together, and flow has no measured model of "
         "that (docs/model.md); use fidelity \"packet\""});
  if (network.tcp.queue == "fifo" && network.tcp.loss > 0)
    throw InputError(
        {"", "network.tcp.loss",
         "found " + format_number(network.tcp.loss) + " with queue \"fifo\" and fidelity \"flow\"", "0",
         "the flow fidelity has no model of random loss beside a FIFO's; use fidelity \"packet\""});
}

TopologySpec parse_topology(const Json& json) {
  if (json.size() != 1) throw InputError("network.topology", "found " + json.dump(), "exactly one topology");
  return {json.begin().key(), json.begin().value()};
}

}  // namespace

NetworkSpec parse_network(const Json& json, int replicas) {
  NetworkSpec network;
  network.fidelity = json.at("fidelity").get<std::string>();
  network.topology = parse_topology(json.at("topology"));
  if (json.contains("rank_order")) network.rank_order = parse_rank_order(json["rank_order"], replicas);
  if (json.contains("overrides")) network.overrides = parse_overrides(json["overrides"], replicas);
  if (json.contains("message_time")) network.message_time = parse_message_time(json["message_time"]);
  check_message_time(network);
  network.barrier = json.value("barrier", false);
  network.slice = parse_slice(json.value("slice", Json("whole")));
  network.eager = parse_eager(json.value("eager", Json("0B")));
  check_sending(network);
  network.tcp = parse_tcp(json.at("tcp"));
  check_fidelity(network);
  return network;
}

}  // namespace longhaul
