// How to start the choice: a script for each node that sets what the times rest on.
//
// NCCL opens NCCL_SOCKET_NTHREADS times NCCL_NSOCKS_PERTHREAD connections to a neighbour (16 and 64 together
// at most) and takes the ring or the tree that NCCL_ALGO names. Linux uses half of a socket's buffer as its
// window.
#include <fmt/core.h>

#include <algorithm>

#include "analysis/text.h"
#include "core/base/units.h"
#include "net/tcp/framing.h"
#include "planner/plan_result.h"
#include "replay/optimized_order.h"

namespace longhaul {
namespace {

constexpr int kMostThreads = 16, kMostSockets = 64;  // NCCL's
constexpr int kPort = 29500;                         // torchrun's default

// In bytes of payload: what one of the connections of two nodes has under way at most.
double largest_window(const Topology& topology, const TcpSpec& tcp) {
  double largest = 0;
  for (int from = 0; from < topology.replicas(); ++from)
    for (int to = 0; to < topology.replicas(); ++to) {
      if (from == to) continue;
      const double share = payload_rate(topology.bottleneck(from, to), tcp.segment) / tcp.connections,
                   rate = std::min(share, topology.connection_cap(from, to) / 8);
      if (rate < kUnlimited) largest = std::max(largest, rate * topology.rtt_s(from, to));
    }
  return std::min(largest, tcp.window.value_or(kUnlimited));
}

std::string nccl_sockets(int connections) {
  if (connections > kMostSockets)
    return fmt::format("# NCCL opens {} connections at most, not {}\n", kMostSockets, connections);
  int threads = std::min(connections, kMostThreads / 2);
  while (connections % threads != 0) --threads;
  return fmt::format("export NCCL_SOCKET_NTHREADS={} NCCL_NSOCKS_PERTHREAD={}\n", threads,
                     connections / threads);
}

std::string nccl_algorithm(const std::vector<std::string>& ways) {
  if (contains(ways, "ring")) return "export NCCL_ALGO=Ring\n";
  return contains(ways, "double-tree") ? "export NCCL_ALGO=Tree\n" : "";
}

}  // namespace

std::string launch_script(const PlanRequest& plan, const Evaluation& choice) {
  const TcpSpec& tcp = choice.config.network.tcp;
  const double window = largest_window(placed_topology(choice.config), tcp);
  const auto buffer = static_cast<long long>(2 * window);
  std::string text = fmt::format(
      "#!/usr/bin/env bash\n"
      "# {}: on each node, as root\n"
      "#   bash launch.sh RANK ADDRESS_OF_RANK_0 TRAINING.py ...\n"
      "# ranks: {}\n"
      "set -eu\n"
      "rank=$1 master=$2\n"
      "shift 2\n"
      "sysctl -w net.ipv4.tcp_congestion_control={} net.core.default_qdisc={} "
      "net.ipv4.tcp_slow_start_after_idle={}\n",
      choice.candidate.words, placement_in_words(choice.config), tcp.congestion_control,
      tcp.queue == "fq_codel" ? "fq_codel" : "fq", tcp.slow_start_after_idle ? 1 : 0);
  if (window > 0)
    text += fmt::format(
        "# windows of {}, the most that a connection has under way\n"
        "sysctl -w net.core.rmem_max={} net.core.wmem_max={} net.ipv4.tcp_rmem=\"4096 131072 {}\" "
        "net.ipv4.tcp_wmem=\"4096 16384 {}\"\n",
        human_bytes(window), buffer, buffer, buffer, buffer);
  text +=
      "interface=$(ip -o route show default | sed 's/.* dev \\([^ ]*\\).*/\\1/;q')  # the way out\n"
      "export NCCL_SOCKET_IFNAME=$interface GLOO_SOCKET_IFNAME=$interface\n";
  text +=
      nccl_sockets(plan.way_out_per_accelerator ? tcp.connections / plan.hardware.per_node : tcp.connections);
  text += nccl_algorithm(choice.candidate.ways);
  return text + fmt::format(
                    "exec torchrun --nnodes={} --nproc-per-node=gpu --node-rank=\"$rank\" "
                    "--master-addr=\"$master\" --master-port={} \"$@\"\n",
                    plan.nodes, kPort);
}

}  // namespace longhaul
