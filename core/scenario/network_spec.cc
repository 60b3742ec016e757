#include "core/scenario/network_spec.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

constexpr char kVariation[] = "network.variation";
constexpr char kRankOrder[] = "network.rank_order";

TopologySpec parse_topology(const Json& json) {
  if (json.size() != 1) throw InputError("network.topology", "found " + json.dump(), "exactly one topology");
  return {json.begin().key(), json.begin().value()};
}

std::vector<int> parse_places(const Json& json, int replicas) {
  const std::string allowed =
      fmt::format("every place from 0 to {} once: entry r is the place of rank r", replicas - 1);
  if (static_cast<int>(json.size()) != replicas)
    throw InputError(kRankOrder,
                     fmt::format("found {} places, the scenario has {} replicas", json.size(), replicas),
                     allowed);
  const auto places = json.get<std::vector<int>>();
  std::vector<int> rank_at(places.size(), -1);
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const int place = places[rank];
    if (place < 0 || place >= replicas)
      throw InputError(element_path(kRankOrder, rank), fmt::format("found the place {}", place), allowed);
    int& taken_by = rank_at[as_index(place)];
    if (taken_by >= 0)
      throw InputError(element_path(kRankOrder, rank),
                       fmt::format("found the place {}, which rank {} has already", place, taken_by),
                       allowed);
    taken_by = static_cast<int>(rank);
  }
  return places;
}

// All of `text` as a number, or -1.
int parse_index(const std::string& text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

LinkOverride parse_override(const Json& json, int replicas, const std::string& path) {
  if (json.contains("link") == json.contains("replica"))
    throw InputError(path, "found " + json.dump(), "exactly one of link and replica");
  const bool has_direction = json.contains("up") || json.contains("down");
  if (json.contains("rate") && has_direction)
    throw InputError(path, "found " + json.dump(), "either rate, or up and down");
  if (!json.contains("rate") && !has_direction && !json.contains("delay"))
    throw InputError(path, "found " + json.dump(), "at least one of rate, up, down, delay",
                     "an override says what is different");
  LinkOverride link_override;
  if (json.contains("link")) {
    link_override.link = json["link"].get<std::string>();
  } else {
    const Json& replica = json["replica"];
    link_override.replicas = parse_replica_range(
        replica.is_string() ? replica.get<std::string>() : replica.dump(), replicas, path + ".replica");
  }
  link_override.up = optional_rate(json, json.contains("rate") ? "rate" : "up");
  link_override.down = optional_rate(json, json.contains("rate") ? "rate" : "down");
  link_override.delay = optional_duration(json, "delay");
  return link_override;
}

MessageTimeSpec parse_message_time(const Json& json) {
  const MessageTimeSpec time{parse_duration(json.at("mean")), parse_duration(json.at("std"))};
  if (time.mean == 0 && time.std > 0)
    throw InputError("network.message_time.std", "found " + json["std"].dump(), "\"0s\" where the mean is 0",
                     "a time of mean 0 cannot spread");
  return time;
}

SliceSpec parse_slice(const Json& json) {
  if (json == "whole") return {};
  if (json == "nccl") return {SliceSpec::Kind::kNccl, 0};
  if (json == "gloo") return {SliceSpec::Kind::kGloo, 0};
  return {SliceSpec::Kind::kBytes, std::llround(parse_bytes(json))};
}

// A drawn time is the whole time of a whole message whose two ends are ready. Which topology takes it,
// net/topologies/registry.cc checks.
void check_message_time(const NetworkSpec& network) {
  if (!network.message_time) return;
  if (!network.overrides.empty())
    throw InputError("network.overrides", "found beside network.message_time", "one of the two",
                     "a drawn time does not depend on the links");
  if (network.fidelity == "packet")
    throw InputError("network.message_time", "found with fidelity \"packet\"",
                     "fidelity \"analytic\" or \"flow\"", "packets take the time that the links give them");
  const std::string hint = "a drawn time is that of a whole message";
  if (network.slice.kind != SliceSpec::Kind::kWhole)
    throw InputError("network.slice", "found beside network.message_time", "\"whole\"", hint);
  if (network.eager > 0)
    throw InputError("network.eager", "found beside network.message_time", "\"0B\"", hint);
}

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

TcpSpec parse_tcp(const Json& json) {
  TcpSpec tcp;
  if (json.at("window") != "unlimited") tcp.window = parse_bytes(json["window"]);
  tcp.connections = json.at("connections");
  tcp.congestion_control = json.at("congestion_control").get<std::string>();
  tcp.queue = json.at("queue").get<std::string>();
  // Absent from a case that was resolved before there was a choice.
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

void check_fidelity(const NetworkSpec& network) {
  if (network.fidelity == "packet" && network.tcp.loss > 0 && network.tcp.loss_response != "ns3-3.37")
    throw InputError(
        "network.tcp.loss_response",
        fmt::format("found \"{}\" with fidelity \"packet\" and random loss", network.tcp.loss_response),
        "\"ns3-3.37\"", "packets are ns-3's own and know no other response");
  if (network.fidelity == "packet" && network.tcp.congestion_control == "bbr" && network.tcp.loss > 0)
    throw InputError(
        "network.tcp.loss",
        fmt::format("found {} with network.tcp.congestion_control \"bbr\"", format_number(network.tcp.loss)),
        "0, or congestion_control \"cubic\", \"reno\"",
        "after losses ns-3's BBR stays at a few packets a round trip: exchanges take hundreds of times too "
        "long (docs/reference/packet.md)");
  if (network.fidelity != "flow") return;
  if (network.tcp.congestion_control == "bbr")
    throw InputError("network.tcp.congestion_control", "found \"bbr\" with fidelity \"flow\"",
                     "\"cubic\", \"reno\", or fidelity \"packet\"",
                     "flow has windows that acknowledgements clock, and BBR paces by a model of the path");
  const std::string no_fifo =
      "connections that share a FIFO lose packets together, of which flow has no model: use fidelity "
      "\"packet\", "
      "or fair queues";
  if (network.tcp.queue == "fifo")
    throw InputError("network.tcp.queue", "found \"fifo\" with fidelity \"flow\"",
                     "\"host\", \"fq_codel\", or fidelity \"packet\"", no_fifo);
  if (network.tcp.trunk_queue == "fifo")
    throw InputError("network.tcp.trunk_queue", "found \"fifo\" with fidelity \"flow\"",
                     "\"same\", or fidelity \"packet\"", no_fifo);
}

Directions parse_directions(const Json& json) {
  const std::string word = json.at("direction");
  return {word != "backward", word != "forward"};
}

TraceSpec parse_trace(const Json& json, const std::string& folder) {
  TraceSpec trace;
  trace.link = json.at("link").get<std::string>();
  trace.file = (std::filesystem::path(folder) / json.at("file").get<std::string>()).string();
  trace.directions = parse_directions(json);
  const Json& repeat = json.at("repeat");
  trace.repeats = repeat.is_string() || repeat.get<bool>();
  if (repeat.is_string()) trace.period_s = parse_duration(repeat);
  return trace;
}

void check_place(const Json& json, const std::string& path) {
  const bool on_path = json.contains("from") && json.contains("to"),
             any_end = json.contains("from") || json.contains("to");
  if (json.contains("link") == any_end || any_end != on_path)
    throw InputError(path, "found " + json.dump(), "either link, or from and to");
  if (on_path && json.at("direction") != "both")
    throw InputError(path + ".direction", "found beside from and to", "only with link",
                     "from and to say the direction");
}

BackgroundSpec parse_background(const Json& json, const std::string& path) {
  check_place(json, path);
  BackgroundSpec traffic;
  traffic.link = json.value("link", "");
  traffic.directions = parse_directions(json);
  traffic.from = json.value("from", "");
  traffic.to = json.value("to", "");
  if (json.contains("flows") + json.contains("rate") + json.contains("share") != 1)
    throw InputError(path, "found " + json.dump(), "exactly one of flows, rate and share");
  if (json.contains("flows")) traffic.flows = json["flows"].get<int>();
  if (json.contains("rate")) traffic.rate = parse_rate(json["rate"]);
  if (json.contains("share")) traffic.share = json["share"].get<double>();
  if (json.contains("on") != json.contains("off"))
    throw InputError(path, "found " + json.dump(), "on and off together, or neither");
  if (json.contains("on")) traffic.on_s = parse_duration(json["on"]);
  if (json.contains("off")) traffic.off_s = parse_duration(json["off"]);
  return traffic;
}

[[noreturn]] void refuse_variation(const std::string& path, const std::string& found,
                                   const std::string& fidelity) {
  throw InputError(path, fmt::format("found {} with fidelity \"{}\"", found, fidelity), "fidelity \"flow\"",
                   "fidelity \"packet\" carries traces and jitter of rates, \"flow\" all of it");
}

// Drawn times do not depend on links. ns-3's point-to-point channel has one delay for both directions, and
// nothing here sends packets for others.
void check_variation(const VariationSpec& variation, const Json& network) {
  const std::string path = kVariation, fidelity = network.at("fidelity");
  if (network.contains("message_time"))
    throw InputError(path, "found beside network.message_time",
                     "another topology, without network.message_time");
  if (fidelity != "flow") {
    if (fidelity != "packet") refuse_variation(path, "a network that changes with time", fidelity);
    if (!variation.background.empty()) refuse_variation(path + ".background", "background traffic", fidelity);
    if (variation.jitter.delay_sigma > 0)
      refuse_variation(path + ".jitter.delay_sigma", "jitter of delays", fidelity);
  }
}

}  // namespace

NetworkSpec parse_network(const Json& json, int replicas, const std::string& folder) {
  NetworkSpec network;
  network.fidelity = json.at("fidelity").get<std::string>();
  network.topology = parse_topology(json.at("topology"));
  if (json.contains("rank_order")) network.rank_order = parse_rank_order(json["rank_order"], replicas);
  const Json overrides = json.value("overrides", Json::array());
  for (std::size_t i = 0; i < overrides.size(); ++i)
    network.overrides.push_back(parse_override(overrides[i], replicas, element_path("network.overrides", i)));
  if (json.contains("message_time")) network.message_time = parse_message_time(json["message_time"]);
  network.barrier = json.value("barrier", false);
  network.slice = parse_slice(json.value("slice", Json("whole")));
  const Json eager = json.value("eager", Json("0B"));
  network.eager = eager == "unlimited" ? std::numeric_limits<double>::infinity() : parse_bytes(eager);
  check_message_time(network);
  network.tcp = parse_tcp(json.at("tcp"));
  check_fidelity(network);
  network.variation = parse_variation(json, folder);
  return network;
}

std::string to_string(RankOrderSpec::Kind kind) {
  return kind == RankOrderSpec::Kind::kList ? "list" : word_of(kind);
}

RankOrderSpec parse_rank_order(const Json& json, int replicas) {
  if (json.is_array()) return {RankOrderSpec::Kind::kList, parse_places(json, replicas)};
  if (!json.is_string())
    throw InputError(kRankOrder, "found " + json.dump(), "an order (longhaul list options)");
  return {from_word<RankOrderSpec::Kind>(json, kRankOrder), {}};
}

VariationSpec parse_variation(const Json& network, const std::string& folder) {
  VariationSpec variation;
  if (!network.contains("variation")) return variation;
  const Json& json = network["variation"];
  for (const Json& trace : json.value("traces", Json::array()))
    variation.traces.push_back(parse_trace(trace, folder));
  const Json background = json.value("background", Json::array());
  for (std::size_t i = 0; i < background.size(); ++i)
    variation.background.push_back(
        parse_background(background[i], element_path(std::string(kVariation) + ".background", i)));
  if (json.contains("jitter")) {
    const Json& jitter = json["jitter"];
    variation.jitter = {jitter.at("rate_sigma"), jitter.at("delay_sigma"),
                        parse_duration(jitter.at("every"))};
  }
  if (!variation.is_empty()) check_variation(variation, network);
  return variation;
}

std::pair<int, int> parse_replica_range(const std::string& text, int replicas, const std::string& path) {
  if (text == "all") return {0, replicas - 1};
  const std::size_t dash = text.find('-');
  const int first = parse_index(text.substr(0, dash)),
            last = dash == std::string::npos ? first : parse_index(text.substr(dash + 1));
  if (first < 0 || last < first || last >= replicas)
    throw InputError(path, fmt::format("found \"{}\"", text),
                     fmt::format("a replica, 0 … {}, a range as \"0-3\", or \"all\"", replicas - 1));
  return {first, last};
}

}  // namespace longhaul
