#include "validation/grid/grid_case.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/units.h"
#include "net/collectives/collective.h"
#include "net/tcp/framing.h"

namespace longhaul {
namespace {

Topology star_of(const GridCase& one) {
  Topology topology(one.replicas);
  const int core = topology.add_router("core");
  for (int i = 0; i < one.replicas; ++i)
    topology.add_link({topology.node_name(i) + "-core", i, core, one.up, one.down, one.rtt_s / 4});
  return topology;
}

// Round trips fall geometrically from pair to pair, from the longest to the shortest.
double pair_rtt_s(const GridCase& one, int pair) {
  const int pairs = one.replicas / 2;
  return pairs > 1 ? one.rtt_s * std::pow(one.rtt_ratio, -static_cast<double>(pair) / (pairs - 1))
                   : one.rtt_s;
}

// Two sites; the trunk has half of the shortest one-way delay, access links share what is left.
Topology sites_of(const GridCase& one) {
  Topology topology(one.replicas);
  const int near = topology.add_router("near"), far = topology.add_router("far"), pairs = one.replicas / 2;
  const double trunk_s = one.rtt_s / one.rtt_ratio / 4;
  topology.add_link({"trunk", near, far, one.trunk, one.trunk, trunk_s});
  for (int i = 0; i < one.replicas; ++i)
    topology.add_link({topology.node_name(i) + "-site", i, i < pairs ? near : far, one.up, one.down,
                       (pair_rtt_s(one, i % pairs) / 2 - trunk_s) / 2});
  return topology;
}

// Between sites i < j the longest round trip divided by this, and the throughput times it: what a window that
// is the same everywhere would carry.
double nearness(int i, int j) {
  return i == 0 ? (j == 1 ? 1 : 2) : 1.5;
}

// As `regions` builds it, with 5 ms inside a site.
Topology regions_of(const GridCase& one) {
  constexpr double kInside_s = 0.005;
  Topology topology(one.replicas);
  std::vector<int> routers, site_of;
  for (int site = 0; site < one.sites; ++site)
    routers.push_back(topology.add_router("site" + std::to_string(site)));
  for (int i = 0; i < one.replicas; ++i) {
    site_of.push_back(i * one.sites / one.replicas);
    topology.add_link({topology.node_name(i) + "-site", i, routers[static_cast<std::size_t>(site_of.back())],
                       one.up, one.down, kInside_s / 4});
  }
  const auto sites = static_cast<std::size_t>(one.sites);
  std::vector<std::vector<double>> caps(sites, std::vector<double>(sites, kUnlimited));
  for (int i = 0; i < one.sites; ++i)
    for (int j = i + 1; j < one.sites; ++j) {
      const auto first = static_cast<std::size_t>(i), second = static_cast<std::size_t>(j);
      topology.add_link({topology.node_name(routers[first]) + "-" + topology.node_name(routers[second]),
                         routers[first], routers[second], kUnlimited, kUnlimited,
                         (one.rtt_s / nearness(i, j) - kInside_s) / 2});
      caps[first][second] = caps[second][first] = one.throughput * nearness(i, j);
    }
  topology.set_sites(site_of);
  topology.set_connection_caps(site_of, caps);
  return topology;
}

}  // namespace

bool GridCase::is_judge() const {
  static const std::set<std::string> drawn_to_judge = {"fifo-judge-2", "window-fifo-judge-2"};
  return number % 2 == 1 || drawn_to_judge.count(set) > 0;
}

std::int64_t GridCase::payload() const {
  if (kind == "single") return replicas / 2 * bytes;
  if (kind == "pair") return replicas * bytes;
  return find_collective(kind).totals({replicas, bytes, 1}).bytes;
}

double GridCase::windows() const {
  const double all = connections * (window > 0 ? window : throughput / 8 * rtt_s);
  return all > 0 ? products * std::min(up, down) / 8 * rtt_s / all : 0;
}

Topology topology_of(const GridCase& one) {
  if (one.sites > 0) return regions_of(one);
  return one.trunk > 0 ? sites_of(one) : star_of(one);
}

TcpSpec tcp_of(const GridCase& one) {
  TcpSpec tcp;
  tcp.connections = one.connections;
  tcp.congestion_control = "cubic";
  tcp.queue = one.queue;
  tcp.queue_products = one.queue_products;
  tcp.ecn = one.ecn;
  tcp.loss = one.loss;
  tcp.segment = one.segment;
  if (one.window > 0) tcp.window = one.window;
  if (one.is_trunk_fifo) tcp.trunk_queue = "fifo";
  return tcp;
}

std::vector<std::pair<int, int>> ends_of(const GridCase& one) {
  std::set<std::pair<int, int>> ends;
  const int pairs = one.replicas / 2;
  for (int i = 0; i < pairs && !one.is_collective(); ++i) {
    ends.insert({i, i + pairs});
    if (one.kind == "pair") ends.insert({i + pairs, i});
  }
  if (one.is_collective()) {
    const Collective& collective = find_collective(one.kind);
    const GroupExchange exchange{one.replicas, one.bytes, 1};
    for (int member = 0; member < one.replicas; ++member)
      for (int index = 0; index < collective.rounds(exchange); ++index)
        for (const Message& message : collective.round(exchange, member, index).sends)
          ends.insert({member, message.peer});
  }
  return {ends.begin(), ends.end()};
}

double naive_s(const GridCase& one) {
  const double share = one.trunk > 0 ? one.trunk / (one.replicas / 2) : one.up;
  double rate = std::min({one.up, one.down, share}) / 8 * payload_share(one.segment);
  if (one.window > 0) rate = std::min(rate, one.connections * one.window / one.rtt_s);
  if (one.throughput > 0) rate = std::min(rate, one.connections * one.throughput / 8);
  if (!one.is_collective()) return one.rtt_s / 2 + static_cast<double>(one.bytes) / rate;
  return find_collective(one.kind).idle_star_s({one.replicas, one.bytes, 1}, one.rtt_s / 2, rate);
}

const std::vector<std::string>& grid_columns() {
  static const std::vector<std::string> names = {
      "set",        "number",    "kind",           "replicas", "up",          "down",    "trunk",
      "rtt_s",      "rtt_ratio", "bytes",          "products", "connections", "segment", "gap_s",
      "queue",      "ecn",       "queue_products", "loss",     "seeds",       "sites",   "window",
      "throughput", "trunk_fifo"};
  return names;
}

std::vector<std::string> cells_of(const GridCase& one) {
  return {one.set,
          std::to_string(one.number),
          one.kind,
          std::to_string(one.replicas),
          format_number(one.up),
          format_number(one.down),
          format_number(one.trunk),
          format_number(one.rtt_s),
          format_number(one.rtt_ratio),
          std::to_string(one.bytes),
          format_number(one.products),
          std::to_string(one.connections),
          std::to_string(one.segment),
          format_number(one.gap_s),
          one.queue,
          one.ecn ? "1" : "0",
          format_number(one.queue_products),
          format_number(one.loss),
          std::to_string(one.seeds),
          std::to_string(one.sites),
          format_number(one.window),
          format_number(one.throughput),
          one.is_trunk_fifo ? "1" : "0"};
}

GridCase grid_case_from(const std::vector<std::string>& cells) {
  GridCase one;
  auto cell = cells.begin();
  one.set = *cell++;
  one.number = std::stoi(*cell++);
  one.kind = *cell++;
  one.replicas = std::stoi(*cell++);
  for (double* value : {&one.up, &one.down, &one.trunk, &one.rtt_s, &one.rtt_ratio})
    *value = std::stod(*cell++);
  one.bytes = std::stoll(*cell++);
  one.products = std::stod(*cell++);
  one.connections = std::stoi(*cell++);
  one.segment = std::stoi(*cell++);
  one.gap_s = std::stod(*cell++);
  one.queue = *cell++;
  one.ecn = *cell++ == "1";
  one.queue_products = std::stod(*cell++);
  one.loss = std::stod(*cell++);
  one.seeds = std::stoi(*cell++);
  one.sites = std::stoi(*cell++);
  one.window = std::stod(*cell++);
  one.throughput = std::stod(*cell++);
  one.is_trunk_fifo = *cell++ == "1";
  return one;
}

}  // namespace longhaul
