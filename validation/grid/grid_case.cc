#include "validation/grid/grid_case.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/units.h"
#include "net/collectives/collective.h"
#include "net/tcp/framing.h"

namespace longhaul {
namespace {

Topology star_of(const GridCase& grid_case) {
  Topology topology(grid_case.replicas);
  const int core = topology.add_router("core");
  for (int i = 0; i < grid_case.replicas; ++i)
    topology.add_link(
        {topology.node_name(i) + "-core", i, core, grid_case.up, grid_case.down, grid_case.rtt_s / 4});
  return topology;
}

// Round trips fall geometrically from pair to pair, from the longest to the shortest.
double pair_rtt_s(const GridCase& grid_case, int pair) {
  const int pairs = grid_case.replicas / 2;
  return pairs > 1 ? grid_case.rtt_s * std::pow(grid_case.rtt_ratio, -static_cast<double>(pair) / (pairs - 1))
                   : grid_case.rtt_s;
}

// Two sites; the trunk has half of the shortest one-way delay, access links share what is left.
Topology sites_of(const GridCase& grid_case) {
  Topology topology(grid_case.replicas);
  const int near = topology.add_router("near"), far = topology.add_router("far"),
            pairs = grid_case.replicas / 2;
  const double trunk_s = grid_case.rtt_s / grid_case.rtt_ratio / 4;
  topology.add_link({"trunk", near, far, grid_case.trunk, grid_case.trunk, trunk_s});
  for (int i = 0; i < grid_case.replicas; ++i)
    topology.add_link({topology.node_name(i) + "-site", i, i < pairs ? near : far, grid_case.up,
                       grid_case.down, (pair_rtt_s(grid_case, i % pairs) / 2 - trunk_s) / 2});
  return topology;
}

// Between sites i < j the longest round trip divided by this, and the throughput times it: what a window that
// is the same everywhere would carry.
double nearness(int i, int j) {
  return i == 0 ? (j == 1 ? 1 : 2) : 1.5;
}

// As `regions` builds it, with 5 ms inside a site.
Topology regions_of(const GridCase& grid_case) {
  constexpr double kInside_s = 0.005;
  Topology topology(grid_case.replicas);
  std::vector<int> routers, site_of;
  for (int site = 0; site < grid_case.sites; ++site)
    routers.push_back(topology.add_router("site" + std::to_string(site)));
  for (int i = 0; i < grid_case.replicas; ++i) {
    site_of.push_back(i * grid_case.sites / grid_case.replicas);
    topology.add_link({topology.node_name(i) + "-site", i, routers[static_cast<std::size_t>(site_of.back())],
                       grid_case.up, grid_case.down, kInside_s / 4});
  }
  const auto sites = static_cast<std::size_t>(grid_case.sites);
  std::vector<std::vector<double>> caps(sites, std::vector<double>(sites, kUnlimited));
  for (int i = 0; i < grid_case.sites; ++i)
    for (int j = i + 1; j < grid_case.sites; ++j) {
      const auto first = static_cast<std::size_t>(i), second = static_cast<std::size_t>(j);
      topology.add_link({topology.node_name(routers[first]) + "-" + topology.node_name(routers[second]),
                         routers[first], routers[second], kUnlimited, kUnlimited,
                         (grid_case.rtt_s / nearness(i, j) - kInside_s) / 2});
      caps[first][second] = caps[second][first] = grid_case.throughput * nearness(i, j);
    }
  topology.set_sites(site_of);
  topology.set_connection_caps(site_of, caps);
  return topology;
}

}  // namespace

bool GridCase::is_judge() const {
  return number % 2 == 1;
}

std::int64_t GridCase::payload() const {
  if (kind == "single") return replicas / 2 * bytes;
  if (kind == "pair") return replicas * bytes;
  return find_collective(kind).totals({replicas, bytes, 1}).bytes;
}

Topology topology_of(const GridCase& grid_case) {
  if (grid_case.sites > 0) return regions_of(grid_case);
  return grid_case.trunk > 0 ? sites_of(grid_case) : star_of(grid_case);
}

TcpSpec tcp_of(const GridCase& grid_case) {
  TcpSpec tcp;
  tcp.connections = grid_case.connections;
  tcp.congestion_control = "cubic";
  tcp.queue = grid_case.queue;
  tcp.queue_products = grid_case.queue_products;
  tcp.ecn = grid_case.ecn;
  tcp.loss = grid_case.loss;
  tcp.segment = grid_case.segment;
  if (grid_case.window > 0) tcp.window = grid_case.window;
  if (grid_case.is_trunk_fifo) tcp.trunk_queue = "fifo";
  return tcp;
}

std::vector<std::pair<int, int>> ends_of(const GridCase& grid_case) {
  std::set<std::pair<int, int>> ends;
  const int pairs = grid_case.replicas / 2;
  for (int i = 0; i < pairs && !grid_case.is_collective(); ++i) {
    ends.insert({i, i + pairs});
    if (grid_case.kind == "pair") ends.insert({i + pairs, i});
  }
  if (grid_case.is_collective()) {
    const Collective& collective = find_collective(grid_case.kind);
    const GroupExchange exchange{grid_case.replicas, grid_case.bytes, 1};
    for (int member = 0; member < grid_case.replicas; ++member)
      for (int index = 0; index < collective.rounds(exchange); ++index)
        for (const Message& message : collective.round(exchange, member, index).sends)
          ends.insert({member, message.peer});
  }
  return {ends.begin(), ends.end()};
}

double naive_s(const GridCase& grid_case) {
  const double share = grid_case.trunk > 0 ? grid_case.trunk / (grid_case.replicas / 2) : grid_case.up;
  double rate = std::min({grid_case.up, grid_case.down, share}) / 8 * payload_share(grid_case.segment);
  if (grid_case.window > 0) rate = std::min(rate, grid_case.connections * grid_case.window / grid_case.rtt_s);
  if (grid_case.throughput > 0) rate = std::min(rate, grid_case.connections * grid_case.throughput / 8);
  if (!grid_case.is_collective()) return grid_case.rtt_s / 2 + static_cast<double>(grid_case.bytes) / rate;
  return find_collective(grid_case.kind)
      .idle_star_s({grid_case.replicas, grid_case.bytes, 1}, grid_case.rtt_s / 2, rate);
}

const std::vector<std::string>& grid_columns() {
  static const std::vector<std::string> names = {
      "set",        "number",    "kind",           "replicas", "up",          "down",    "trunk",
      "rtt_s",      "rtt_ratio", "bytes",          "products", "connections", "segment", "gap_s",
      "queue",      "ecn",       "queue_products", "loss",     "seeds",       "sites",   "window",
      "throughput", "trunk_fifo"};
  return names;
}

std::vector<std::string> cells_of(const GridCase& grid_case) {
  return {grid_case.set,
          std::to_string(grid_case.number),
          grid_case.kind,
          std::to_string(grid_case.replicas),
          format_number(grid_case.up),
          format_number(grid_case.down),
          format_number(grid_case.trunk),
          format_number(grid_case.rtt_s),
          format_number(grid_case.rtt_ratio),
          std::to_string(grid_case.bytes),
          format_number(grid_case.products),
          std::to_string(grid_case.connections),
          std::to_string(grid_case.segment),
          format_number(grid_case.gap_s),
          grid_case.queue,
          grid_case.ecn ? "1" : "0",
          format_number(grid_case.queue_products),
          format_number(grid_case.loss),
          std::to_string(grid_case.seeds),
          std::to_string(grid_case.sites),
          format_number(grid_case.window),
          format_number(grid_case.throughput),
          grid_case.is_trunk_fifo ? "1" : "0"};
}

GridCase grid_case_from(const std::vector<std::string>& cells) {
  GridCase grid_case;
  auto cell = cells.begin();
  grid_case.set = *cell++;
  grid_case.number = std::stoi(*cell++);
  grid_case.kind = *cell++;
  grid_case.replicas = std::stoi(*cell++);
  for (double* value :
       {&grid_case.up, &grid_case.down, &grid_case.trunk, &grid_case.rtt_s, &grid_case.rtt_ratio})
    *value = std::stod(*cell++);
  grid_case.bytes = std::stoll(*cell++);
  grid_case.products = std::stod(*cell++);
  grid_case.connections = std::stoi(*cell++);
  grid_case.segment = std::stoi(*cell++);
  grid_case.gap_s = std::stod(*cell++);
  grid_case.queue = *cell++;
  grid_case.ecn = *cell++ == "1";
  grid_case.queue_products = std::stod(*cell++);
  grid_case.loss = std::stod(*cell++);
  grid_case.seeds = std::stoi(*cell++);
  grid_case.sites = std::stoi(*cell++);
  grid_case.window = std::stod(*cell++);
  grid_case.throughput = std::stod(*cell++);
  grid_case.is_trunk_fifo = *cell++ == "1";
  return grid_case;
}

}  // namespace longhaul
