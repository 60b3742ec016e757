#include "net/topology.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/graph/connected_components.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

struct Cost {
  int hops = 0;
  double delay_s = 0;
};

bool is_less(const Cost& a, const Cost& b, Routing routing) {
  if (a.hops == b.hops || (routing == Routing::kLeastDelay && a.delay_s != b.delay_s))
    return a.delay_s < b.delay_s;
  return a.hops < b.hops;
}

// Notes for each node by which direction of which link the best path arrives.
class ArrivalNoter : public boost::default_dijkstra_visitor {
 public:
  ArrivalNoter(const std::vector<Link>& links, std::vector<LinkDirection>& arrival)
      : links_(links), arrival_(arrival) {}

  template <typename Edge, typename Graph>
  void edge_relaxed(Edge edge, const Graph& graph) const {
    const int number = boost::get(boost::edge_index, graph)[edge];
    const int end = static_cast<int>(boost::target(edge, graph));
    const bool is_backward = links_[as_index(number)].first == end;
    arrival_[as_index(end)] = 2 * number + is_backward;
  }

 private:
  const std::vector<Link>& links_;
  std::vector<LinkDirection>& arrival_;
};

}  // namespace

Topology::Topology(int replicas, Routing routing)
    : replicas_(replicas), routing_(routing), graph_(as_index(replicas)) {
  for (int i = 0; i < replicas; ++i) names_.push_back(fmt::format("replica{}", i));
}

int Topology::add_router(const std::string& name) {
  names_.push_back(name);
  return static_cast<int>(boost::add_vertex(graph_));
}

int Topology::add_link(const Link& link) {
  const int number = static_cast<int>(links_.size());
  boost::add_edge(as_index(link.first), as_index(link.second), number, graph_);
  links_.push_back(link);
  trees_.clear();
  return number;
}

void Topology::change_link(int number, const Link& link) {
  links_[as_index(number)] = link;
  trees_.clear();
}

void Topology::set_connection_caps(std::vector<int> class_of, std::vector<std::vector<double>> payload_rate) {
  class_of_ = std::move(class_of);
  class_caps_ = std::move(payload_rate);
}

int Topology::link_count() const {
  return is_mesh() ? replicas_ * (replicas_ - 1) / 2 : static_cast<int>(links_.size());
}

Link Topology::link(int number) const {
  if (!is_mesh()) return links_[as_index(number)];
  auto second = static_cast<int>((1 + std::sqrt(1 + 8. * number)) / 2);
  while (second * (second - 1) / 2 > number) --second;  // the root may have been rounded
  while ((second + 1) * second / 2 <= number) ++second;
  const int first = number - second * (second - 1) / 2;
  return {node_name(first) + "-" + node_name(second), first, second, mesh_.rate, mesh_.rate, mesh_.delay_s};
}

Path Topology::mesh_path(int source, int target) const {
  if (source == target) return {};
  const int first = std::min(source, target), second = std::max(source, target);
  return {{2 * (second * (second - 1) / 2 + first) + (source > target)}, mesh_.delay_s};
}

double Topology::rate(LinkDirection direction) const {
  if (is_mesh()) return mesh_.rate;
  const Link& link = links_[as_index(direction / 2)];
  return direction % 2 == 0 ? link.rate_forward : link.rate_backward;
}

int Topology::from(LinkDirection direction) const {
  if (is_mesh()) return direction % 2 == 0 ? link(direction / 2).first : link(direction / 2).second;
  const Link& link = links_[as_index(direction / 2)];
  return direction % 2 == 0 ? link.first : link.second;
}

std::vector<int> Topology::parts() const {
  std::vector<int> part_of(boost::num_vertices(graph_));
  if (is_mesh()) return part_of;
  boost::connected_components(
      graph_, boost::make_iterator_property_map(part_of.begin(), boost::get(boost::vertex_index, graph_)));
  return part_of;
}

const Topology::Tree& Topology::tree(int root) const {
  const auto known = trees_.find(root);
  if (known != trees_.end()) return known->second;
  const auto edge_number = boost::get(boost::edge_index, graph_);
  std::vector<Cost> weights;
  for (const Link& link : links_) weights.push_back({1, link.delay_s});
  Tree arrival(boost::num_vertices(graph_), -1);
  std::vector<Cost> distance(arrival.size());
  boost::dijkstra_shortest_paths(
      graph_, as_index(root),
      boost::weight_map(boost::make_iterator_property_map(weights.begin(), edge_number))
          .distance_map(
              boost::make_iterator_property_map(distance.begin(), boost::get(boost::vertex_index, graph_)))
          .distance_zero(Cost{})
          .distance_inf(Cost{std::numeric_limits<int>::max() / 2, kUnlimited})
          .distance_compare([this](const Cost& a, const Cost& b) { return is_less(a, b, routing_); })
          .distance_combine([](const Cost& a, const Cost& b) {
            return Cost{a.hops + b.hops, a.delay_s + b.delay_s};
          })
          .visitor(ArrivalNoter(links_, arrival)));
  return trees_.emplace(root, std::move(arrival)).first->second;
}

LinkDirection Topology::only_way_out(int node) const {
  const auto [edge, end] = boost::out_edges(as_index(node), graph_);
  if (edge == end || std::next(edge) != end) return -1;
  const int number = boost::get(boost::edge_index, graph_)[*edge];
  return 2 * number + (links_[as_index(number)].first != node);
}

// Replicas hang on one access link each, so that one tree a router serves all paths: at 1024 replicas that is
// kilobytes instead of megabytes.
Path Topology::path(int source, int target) const {
  if (is_mesh()) return mesh_path(source, target);
  const LinkDirection way_out = only_way_out(source);
  const int root = way_out < 0 ? source : to(way_out);
  Path path;
  if (target != root || way_out < 0) {
    const Tree& arrivals = tree(root);
    for (int node = target; node != root;) {
      const LinkDirection direction = arrivals[as_index(node)];
      if (direction < 0)
        throw InputError("network.topology",
                         fmt::format("no path from {} to {}", node_name(source), node_name(target)),
                         "a connected graph");
      path.directions.push_back(direction);
      node = from(direction);
    }
  }
  if (way_out >= 0) path.directions.push_back(way_out);
  std::reverse(path.directions.begin(), path.directions.end());
  for (const LinkDirection direction : path.directions)
    path.delay_s += links_[as_index(direction / 2)].delay_s;
  return path;
}

double Topology::bottleneck(int source, int target) const {
  double slowest = kUnlimited;
  for (const LinkDirection direction : path(source, target).directions)
    slowest = std::min(slowest, rate(direction));
  return slowest;
}

double Topology::connection_cap(int source, int target) const {
  if (class_of_.empty()) return kUnlimited;
  const auto item = as_index(class_of_[as_index(source)]);
  const auto other = as_index(class_of_[as_index(target)]);
  return class_caps_[item][other];
}

}  // namespace longhaul
