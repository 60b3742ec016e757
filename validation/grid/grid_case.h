// The validation grid: one case is two exchanges over a small network, the first over cold connections and
// one more after `gap_s`. A row of a reference file is a case; the design that drew them, a Latin hypercube a
// set, ended with commit 834cf8ba.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/scenario/case.h"
#include "net/topology.h"

namespace longhaul {

struct GridCase {
  std::string set;          // host, fq_codel-ecn, fifo, loss, trunk, ...
  int number = 0;           // within the set
  std::string kind;         // "single" (one way), "pair" (both ways), or a collective among all replicas
  int replicas = 2;         // single and pair: replica i with replica i + replicas / 2, all at the same time
  double up = 0, down = 0;  // bit/s, access links
  double trunk = 0;         // bit/s between the two halves of the replicas; 0: a star, or sites
  int sites = 0;  // regions: so many sites of neighbouring replicas, trunks without a limit; 0: none
  double rtt_s = 0, rtt_ratio = 1;  // the longest round trip; by how much the shortest across a trunk is less
  std::int64_t bytes = 0;           // that a member contributes
  double products = 0;  // its largest message, in bandwidth-delay products of its share of the path
  int connections = 1, segment = 1448;
  double gap_s = 0;
  std::string queue = "host";
  bool ecn = false;
  double queue_products = 1;  // of a fifo
  double loss = 0;
  int seeds = 1;               // runs whose mean counts
  double window = 0;           // bytes, of a connection (network.tcp.window); 0: unlimited
  bool is_trunk_fifo = false;  // network.tcp.trunk_queue
  double throughput = 0;  // bit/s, of a connection between the first two sites, as a matrix gives it; 0: none

  // No parameter of the flow fidelity may be fitted on the cases that it is judged on: the odd ones of a set,
  // and all of one that was drawn to judge.
  bool is_judge() const;
  bool is_collective() const { return kind != "single" && kind != "pair"; }
  std::int64_t payload() const;  // bytes of one exchange, all members
};

Topology topology_of(const GridCase& grid_case);
TcpSpec tcp_of(const GridCase& grid_case);
// (source, target) of every connection.
std::vector<std::pair<int, int>> ends_of(const GridCase& grid_case);
// Latency + bytes / rate, with the headers' part of the rate, fair sharing of a trunk and nothing else.
double naive_s(const GridCase& grid_case);

// As the cells of a CSV row, and back. The columns name the members above.
const std::vector<std::string>& grid_columns();
std::vector<std::string> cells_of(const GridCase& grid_case);
GridCase grid_case_from(const std::vector<std::string>& cells);  // in the order of the columns

}  // namespace longhaul
