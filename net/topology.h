// The network as a graph: replicas and routers joined by full-duplex links, and the paths between replicas.
//
// A path has the fewest hops, then the least delay: a direct trunk wins over a detour even where a measured
// matrix violates the triangle inequality. A topology may ask for the least delay, then the fewest hops,
// instead. Times are seconds, rates bit/s on the wire. A replica's node is its number.
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/base/index.h"
#include "core/scenario/case.h"

namespace longhaul {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

struct Link {
  std::string name;           // "replica3-core", "oregon-london": forward is from the first to the second
  int first = 0, second = 0;  // nodes
  double rate_forward = 0, rate_backward = 0;  // bit/s; kUnlimited for a trunk without a rate
  double delay_s = 0;                          // one way
};

// One direction of a link: 2 · link for forward, 2 · link + 1 for backward.
using LinkDirection = int;

struct Path {
  std::vector<LinkDirection> directions;  // from the source on
  double delay_s = 0;                     // one way, propagation only
};

enum class Routing { kFewestHops, kLeastDelay };

class Topology {
 public:
  explicit Topology(int replicas, Routing routing = Routing::kFewestHops);

  // Another name of a replica's node, before links are named by it.
  void name_node(int node, const std::string& name) { names_[as_index(node)] = name; }
  // Both return the new number.
  int add_router(const std::string& name);
  int add_link(const Link& link);
  // Another rate or delay; the ends stay.
  void change_link(int number, const Link& link);
  // The throughput of one connection between two replicas is at most `payload_rate` (bit/s). Replicas of a
  // class (a site) share their caps: `class_of` has one entry a replica.
  void set_connection_caps(std::vector<int> class_of, std::vector<std::vector<double>> payload_rate);

  // Every two replicas get a link of their own, without storing it: link j(j − 1)/2 + i joins i and j, i < j.
  // There are no routers then.
  void make_mesh(double rate, double delay_s) { mesh_ = {rate, delay_s, true}; }
  bool is_mesh() const { return mesh_.exists; }

  // The site of each replica, for topologies that have sites.
  void set_sites(std::vector<int> site_of) { site_of_ = std::move(site_of); }
  const std::vector<int>& site_of() const { return site_of_; }  // by replica; empty: no sites

  int replicas() const { return replicas_; }
  int nodes() const { return static_cast<int>(names_.size()); }
  const std::string& node_name(int node) const { return names_[as_index(node)]; }
  const std::vector<Link>& links() const { return links_; }  // not of a mesh: link() makes them
  int link_count() const;
  Link link(int number) const;
  double rate(LinkDirection direction) const;
  int from(LinkDirection direction) const;  // the node where it begins
  int to(LinkDirection direction) const { return from(direction ^ 1); }

  // For each node the number of the part of the graph that it is in, from 0; all 0: connected.
  std::vector<int> parts() const;
  // Between any two different nodes; found when first asked for. Throws InputError if they are not connected.
  Path path(int source, int target) const;
  double rtt_s(int source, int target) const { return 2 * path(source, target).delay_s; }
  // The slowest link of the path there, bit/s on the wire.
  double bottleneck(int source, int target) const;
  double connection_cap(int source, int target) const;  // bit/s of payload; kUnlimited if none

 private:
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property,
                                      boost::property<boost::edge_index_t, int>>;
  // For each node the direction by which the best path from the tree's root arrives; -1: none.
  using Tree = std::vector<LinkDirection>;

  struct Mesh {
    double rate = 0, delay_s = 0;
    bool exists = false;
  };

  Path mesh_path(int source, int target) const;
  const Tree& tree(int root) const;
  LinkDirection only_way_out(int node) const;

  int replicas_;
  Routing routing_;
  Graph graph_;
  std::vector<std::string> names_;
  std::vector<Link> links_;
  Mesh mesh_;
  std::vector<int> site_of_;
  std::vector<int> class_of_;
  std::vector<std::vector<double>> class_caps_;
  mutable std::map<int, Tree> trees_;
};

}  // namespace longhaul
