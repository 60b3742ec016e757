#include "core/scenario/network_spec.h"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/scenario/scenario_options.h"

namespace longhaul {
namespace {

constexpr char kRankOrder[] = "network.rank_order";

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

LinkOverride parse_override(const Json& json, int replicas, const std::string& path) {
  if (json.contains("link") == json.contains("replica"))
    throw InputError(path, "found " + json.dump(), "exactly one of link and replica");
  const bool has_direction = json.contains("up") || json.contains("down");
  if (json.contains("rate") && has_direction)
    throw InputError(path, "found " + json.dump(), "either rate, or up and down");
  if (!json.contains("rate") && !has_direction && !json.contains("delay"))
    throw InputError(path, "found " + json.dump(), "at least one of rate, up, down, delay",
                     "an override says what is different");
  LinkOverride change;
  if (json.contains("link")) {
    change.link = json["link"].get<std::string>();
  } else {
    change.replicas = parse_replica_range(json["replica"], replicas, path + ".replica");
  }
  change.up = optional_rate(json, json.contains("rate") ? "rate" : "up");
  change.down = optional_rate(json, json.contains("rate") ? "rate" : "down");
  change.delay = optional_duration(json, "delay");
  return change;
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
  if (network.fidelity == "packet" || network.fidelity == "linux")
    throw InputError("network.message_time", fmt::format("found with fidelity \"{}\"", network.fidelity),
                     "fidelity \"analytic\" or \"flow\"", "packets take the time that the links give them");
  const std::string hint = "a drawn time is that of a whole message";
  if (network.slice.kind != SliceSpec::Kind::kWhole)
    throw InputError("network.slice", "found beside network.message_time", "\"whole\"", hint);
  if (network.eager > 0)
    throw InputError("network.eager", "found beside network.message_time", "\"0B\"", hint);
}

// A library cuts and sends as it does.
void check_library(const NetworkSpec& network) {
  if (network.library == "plain") {
    if (network.host_rate)
      throw InputError("network.host_rate", "found beside network.library \"plain\"", "a library",
                       "the messages of plain are the network's alone");
    return;
  }
  const std::string beside = fmt::format("found beside network.library \"{}\"", network.library);
  const std::string hint = "library \"plain\" takes both; a library cuts and sends in its own way";
  if (network.slice.kind != SliceSpec::Kind::kWhole)
    throw InputError("network.slice", beside, "\"whole\"", hint);
  if (network.eager > 0) throw InputError("network.eager", beside, "\"0B\"", hint);
  if (network.message_time)
    throw InputError("network.message_time", beside, "library \"plain\"",
                     "a drawn time is that of a whole message of the NoLoCo paper's model");
}

// What the engine of segments does not have.
void check_linux(const TcpSpec& tcp) {
  if (tcp.loss > 0 && tcp.loss_response != "linux")
    throw InputError("network.tcp.loss_response",
                     fmt::format("found \"{}\" with fidelity \"linux\"", tcp.loss_response), "\"linux\"");
}

// Flow's connections share as if they were all alike, and packets have none of others.
void check_background(const NetworkSpec& network) {
  if (network.fidelity == "linux") return;
  const std::vector<BackgroundSpec>& background = network.variation.background;
  for (std::size_t i = 0; i < background.size(); ++i) {
    const std::optional<std::string>& control = background[i].congestion_control;
    if (!control || *control == network.tcp.congestion_control) continue;
    throw InputError(element_path("network.variation.background", i) + ".congestion_control",
                     fmt::format("found \"{}\" beside \"{}\" with fidelity \"{}\"", *control,
                                 network.tcp.congestion_control, network.fidelity),
                     "fidelity \"linux\", or network.tcp.congestion_control's",
                     "flow shares a link evenly, whatever the congestion control");
  }
}

void check_hosts(const NetworkSpec& network, const Json& tcp) {
  if (network.fidelity == "linux" || network.tcp.host_controls.empty()) return;
  const std::string& of_all = network.tcp.congestion_control;
  for (std::size_t i = 0; i < tcp.at("hosts").size(); ++i) {
    const std::string control = tcp["hosts"][i].at("congestion_control");
    if (control == of_all) continue;
    throw InputError(
        element_path("network.tcp.hosts", i) + ".congestion_control",
        fmt::format("found \"{}\" beside \"{}\" with fidelity \"{}\"", control, of_all, network.fidelity),
        "fidelity \"linux\", or network.tcp.congestion_control's",
        "only linux lets connections of different congestion controls share a link as they do");
  }
}

void check_fidelity(const NetworkSpec& network) {
  if (network.fidelity == "packet" && network.tcp.congestion_control == "bbr" && network.tcp.loss > 0)
    throw InputError(
        "network.tcp.loss",
        fmt::format("found {} with network.tcp.congestion_control \"bbr\"", format_number(network.tcp.loss)),
        "0, or congestion_control \"cubic\", \"reno\", or fidelity \"linux\"",
        "after losses ns-3's BBR stays at a few packets a round trip: exchanges take hundreds of times too "
        "long (docs/reference/packet.md)");
  // The response is a default that a user may not have written: what is refused is the loss.
  if (network.fidelity == "packet" && network.tcp.loss > 0 && network.tcp.loss_response != "ns3-3.37")
    throw InputError("network.tcp.loss",
                     fmt::format("found {} with fidelity \"packet\", whose response to losses is not \"{}\"",
                                 format_number(network.tcp.loss), network.tcp.loss_response),
                     "0, or network.tcp.loss_response \"ns3-3.37\" beside it, or fidelity \"linux\"",
                     "packets are ns-3's own and know no other response");
  if (network.fidelity == "linux") check_linux(network.tcp);
  if (network.fidelity != "linux" && network.tcp.qdisc != "pfifo_fast")
    throw InputError("network.tcp.qdisc",
                     fmt::format("found \"{}\" with fidelity \"{}\"", network.tcp.qdisc, network.fidelity),
                     "\"pfifo_fast\", or fidelity \"linux\"",
                     "only linux sends segments that a host's queue can pace");
  if (network.fidelity != "flow") return;
  if (network.tcp.congestion_control == "bbr" && network.tcp.queue == "fq_codel")
    throw InputError("network.tcp.congestion_control", "found \"bbr\" with queue \"fq_codel\"",
                     "\"cubic\", \"reno\", queue \"host\", or fidelity \"linux\"",
                     "flow has BBR's pace and no queue of its packets");
  if (network.tcp.congestion_control == "bbr" && network.tcp.loss > 0 && network.tcp.loss_response != "linux")
    throw InputError("network.tcp.loss_response", "found \"ns3-3.37\" with congestion_control \"bbr\"",
                     "\"linux\"", "flow's BBR is Linux's");
  const std::string no_fifo =
      "connections that share a FIFO lose packets together, of which flow has no model: use fidelity "
      "\"linux\", or fair queues";
  if (network.tcp.queue == "fifo")
    throw InputError("network.tcp.queue", "found \"fifo\" with fidelity \"flow\"",
                     "\"host\", \"fq_codel\", or fidelity \"linux\"", no_fifo);
  if (network.tcp.trunk_queue == "fifo")
    throw InputError("network.tcp.trunk_queue", "found \"fifo\" with fidelity \"flow\"",
                     "\"same\", or fidelity \"linux\"", no_fifo);
}

Node message_time_options() {
  return section("message_time",
                 {duration("mean").at_least(0).required().means("the expectation; 0: communication is free"),
                  duration("std").at_least(0).by_default("0s").means("standard deviation")})
      .means(
          "each message takes an independent log-normal time, whatever its size and the links: the NoLoCo "
          "paper's assumption. On a mesh; on a star with an rtt of 0 it is the time that the message would "
          "take alone. Fidelities analytic and flow");
}

Node rank_order_options(const std::vector<std::string>& without_sites) {
  return either("rank_order", {choice("", words_of<RankOrderSpec::Kind>()),
                               list_of("", integer("").at_least(0)).not_empty()})
      .by_default("blocks")
      .means(
          "which site rank (replica) 0, 1, … is at; rings, trees, halving and doubling go by rank. With "
          "stages a rank is a worker: rank r · stages + s is stage s of replica r. blocks: site after site; "
          "round-robin: over the sites in turn; random: a permutation drawn from the seed; optimized: for "
          "the case's all-reduce, or with stages for its step, on the paths' latency and throughput; a list: "
          "entry r is the place of rank r, places counted as in blocks. Only blocks on " +
          enumeration(without_sites, "and") + ", which have no sites");
}

Node library_option(const std::vector<std::string>& libraries) {
  return libraries.empty() ? text("library") : choice("library", libraries);
}

Node override_options() {
  return list_of(
             "overrides",
             section("", {text("link").means("name of a link (links.csv) or a glob, as \"*-core\""),
                          either("replica", {integer("").at_least(0), text("")})
                              .means("instead of link: a replica, or a range as \"3-7\": all its links"),
                          rate("rate").means("both directions, above 0"),
                          rate("up").means("from the replica, or from the first to the second node of the "
                                           "link's name; above 0"),
                          rate("down").means("the other direction, above 0"),
                          duration("delay").means("one way, at least 0")}))
      .means("links that differ from the topology as built, in this order: the last one wins");
}

}  // namespace

Node network_options(const TopologyOptions& topologies) {
  return section(
             "network",
             {choice("fidelity", {"flow", "linux", "packet", "analytic"})
                  .by_default("flow")
                  .means("flow: max-min fair fluid with TCP's start-up; linux: every segment as Linux's TCP "
                         "sends it, behind FIFOs too; packet: ns-3 TCP, packet by packet; analytic: every "
                         "message on its own, as the NoLoCo paper's latency model"),
              one_of("topology", topologies.sections).required().means("who is joined to whom"),
              rank_order_options(topologies.without_sites), override_options(), message_time_options(),
              boolean("barrier").by_default(false).means(
                  "true: no message of an exchange travels before all of its group are ready, as the NoLoCo "
                  "paper counts; false: it travels once both its ends are"),
              library_option(topologies.libraries)
                  .by_default("plain")
                  .means("which communication library carries the exchanges: its algorithms by size, what it "
                         "cuts messages into, what each of them waits for (longhaul list libraries). plain: "
                         "the rounds of a collective as they are"),
              either("slice", {choice("", {"whole", "nccl", "gloo"}), bytes("").at_least(1)})
                  .by_default("whole")
                  .means("into what a message of ring, pair, tree, leaf-tree, heap-tree, direct, "
                         "parameter-server, all-gather and reduce-scatter is cut; a slice is passed on as "
                         "soon as it has arrived. whole: not at all; bytes: equal slices of at most that; "
                         "nccl, gloo: as these libraries cut by default"),
              either("eager", {choice("", {"unlimited"}), bytes("").at_least(0)})
                  .by_default("0B")
                  .means(
                      "bytes that a sender pushes to a receiver that has not posted the exchange yet (what "
                      "the sockets of both ends hold); 0: none (rendezvous)"),
              duration("operation_overhead")
                  .at_least(0)
                  .means(
                      "fixed time of each operation, from its call on a replica until that takes part in it, "
                      "and of each message between stages (launch, negotiation, framework; o of the LogGP "
                      "model); default none"),
              rate("host_rate")
                  .above(0)
                  .means("how fast a replica's host copies and adds what it receives, one message after "
                         "another; with a library other than plain. Without it that takes no time"),
              tcp_options(), variation_options()})
      .filled()
      .means("the wide-area network");
}

NetworkSpec parse_network(const Json& json, int replicas, const std::string& folder, int hosts) {
  NetworkSpec network;
  network.fidelity = json.at("fidelity").get<std::string>();
  const Json& topology = json.at("topology");
  if (topology.size() != 1)
    throw InputError("network.topology", "found " + topology.dump(), "exactly one topology");
  network.topology = {topology.begin().key(), topology.begin().value()};
  if (json.contains("rank_order")) network.rank_order = parse_rank_order(json["rank_order"], replicas);
  const Json overrides = json.value("overrides", Json::array());
  for (std::size_t i = 0; i < overrides.size(); ++i)
    network.overrides.push_back(parse_override(overrides[i], replicas, element_path("network.overrides", i)));
  if (json.contains("message_time")) network.message_time = parse_message_time(json["message_time"]);
  network.library = json.value("library", "plain");
  network.barrier = json.value("barrier", false);
  network.slice = parse_slice(json.value("slice", Json("whole")));
  const Json eager = json.value("eager", Json("0B"));
  network.eager = eager == "unlimited" ? std::numeric_limits<double>::infinity() : parse_bytes(eager);
  network.operation_overhead_s = parse_duration(json.value("operation_overhead", "0s"));
  constexpr double kBitsPerByte = 8;
  if (json.contains("host_rate")) network.host_rate = parse_rate(json["host_rate"]) / kBitsPerByte;
  check_message_time(network);
  check_library(network);
  network.tcp = parse_tcp(json.at("tcp"), std::max(replicas, hosts));
  check_hosts(network, json["tcp"]);
  check_fidelity(network);
  network.variation = parse_variation(json, folder);
  check_background(network);
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

std::pair<int, int> parse_replica_range(const Json& range, int replicas, const std::string& path,
                                        const char* what) {
  const std::string text = range.is_string() ? range.get<std::string>() : range.dump();
  if (text == "all") return {0, replicas - 1};
  const std::size_t dash = text.find('-');
  const int first = parse_number<int>(text.substr(0, dash)).value_or(-1),
            last = dash == std::string::npos ? first : parse_number<int>(text.substr(dash + 1)).value_or(-1);
  if (first < 0 || last < first || last >= replicas)
    throw InputError(path, fmt::format("found \"{}\"", text),
                     fmt::format("{}, 0 … {}, a range as \"0-3\", or \"all\"", what, replicas - 1));
  return {first, last};
}

}  // namespace longhaul
