#include "planner/launch_sheet.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analysis/text.h"
#include "core/base/units.h"
#include "net/tcp/framing.h"
#include "planner/evaluation.h"
#include "planner/plan_request.h"
#include "planner/plan_text.h"
#include "planner/rank_places.h"
#include "replay/placement/optimized_order.h"

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

// In single quotes of a shell.
std::string quoted(const std::string& text) {
  std::string words = "'";
  for (const char letter : text) words += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return words + "'";
}

constexpr char kFunctions[] = R"(
# KEY: what it is, with spaces between numbers; nothing where this kernel has no such key
value_of() { sysctl -n "$1" 2>/dev/null | tr -s '[:space:]' ' ' | sed 's/ $//'; }
# KEY VALUE: sets it, and prints what was there
set_to() {
  local old
  old=$(value_of "$1")
  if [ "$old" = "$2" ]; then echo "$1 = $old stays"
  elif [ -z "$old" ]; then echo "$1 is not there: left alone" >&2
  else sysctl -q -w "$1=$2" && echo "$1 = $2, was $old"; fi
}
# KEY LEAST: its last number is to be LEAST or more; the others, and a larger one, stay
raise() {
  local old last
  old=$(value_of "$1")
  last=${old##* }
  if [ -z "$old" ]; then echo "$1 is not there: left alone" >&2
  elif [ "$last" -ge "$2" ]; then echo "$1 = $old stays"
  else set_to "$1" "${old%"$last"}$2"; fi
}

)";

// What the choice says of the training itself, for TRAINING.py, which sees the environment.
std::string training_variables(const Evaluation& choice) {
  const Json& scenario = choice.candidate.scenario;
  const Json& method = scenario.at("methods").at(0);
  std::string text =
      "# for TRAINING.py: the method, all that the plan says of it (JSON), H, steps in all, tokens of a "
      "node's step\n";
  text += "export LONGHAUL_METHOD=" + quoted(choice.candidate.method) +
          " LONGHAUL_METHOD_OPTIONS=" + quoted(method.dump());
  text += fmt::format(" LONGHAUL_INNER_STEPS={} LONGHAUL_STEPS={}", inner_steps_of(choice),
                      choice.config.steps());
  if (choice.node_tokens.empty())
    text += fmt::format(" LONGHAUL_TOKENS_PER_STEP={}", choice.config.workload.tokens);
  else  // an array of a shell's, by rank
    text = "tokens=(" +
           join(each_of(choice.node_tokens, [](std::int64_t one) { return std::to_string(one); }), " ") +
           ")\n" + text + " LONGHAUL_TOKENS_PER_STEP=\"${tokens[rank]}\"";
  return text + " LONGHAUL_WIRE=" + quoted(plain(scenario.at("workload").at("wire"))) + "\n";
}

// The times rest on these.
std::string kernel_settings(const TcpSpec& tcp, double window) {
  std::string text;
  if (tcp.congestion_control == "bbr")
    text += "set_to net.ipv4.tcp_congestion_control bbr\nset_to net.core.default_qdisc fq\n";
  else
    text += fmt::format(
        "echo \"net.ipv4.tcp_congestion_control = $(value_of net.ipv4.tcp_congestion_control) stays; the "
        "times "
        "are {}'s\"\n"
        "# fair queueing: only where a node has none\n"
        "[ \"$(value_of net.core.default_qdisc)\" != pfifo_fast ] || set_to net.core.default_qdisc {}\n",
        tcp.congestion_control, tcp.queue == "fq_codel" ? "fq_codel" : "fq");
  if (!tcp.slow_start_after_idle) text += "set_to net.ipv4.tcp_slow_start_after_idle 0\n";
  if (window <= 0) return text;
  const auto buffer = static_cast<long long>(std::ceil(2 * window));
  text += fmt::format("# windows of {}, the most that a connection has under way\n", human_bytes(window));
  for (const char* key : {"net.core.rmem_max", "net.core.wmem_max", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"})
    text += fmt::format("raise {} {}\n", key, buffer);
  return text;
}

// For TRAINING.py, which makes the process group.
constexpr char kGlooBackend[] =
    "# the times are Gloo's: init_process_group(\"gloo\"), or cpu:gloo beside cuda:nccl\n"
    "export LONGHAUL_BACKEND=gloo\n";

std::string start_of_training(const PlanRequest& plan) {
  return fmt::format(
      "exec torchrun --nnodes={} --nproc-per-node=gpu --node-rank=\"$rank\" "
      "--master-addr=\"$master\" --master-port={} \"$@\"\n",
      plan.nodes, kPort);
}

}  // namespace

std::string launch_script(const PlanRequest& plan, const Evaluation& choice) {
  const TcpSpec& tcp = choice.config.network.tcp;
  const double window = largest_window(placed_topology(choice.config), tcp);
  std::string text = fmt::format(
      "#!/usr/bin/env bash\n"
      "# {}: on each node, as root\n"
      "#   bash launch.sh RANK ADDRESS_OF_RANK_0 TRAINING.py ...\n"
      "# ranks: {}\n"
      "set -eu\n"
      "rank=$1 master=$2\n"
      "shift 2\n",
      choice.candidate.words, placement_in_words(choice.config));
  text += kFunctions + kernel_settings(tcp, window) + training_variables(choice);
  text +=
      "interface=$(ip -o route show default | sed 's/.* dev \\([^ ]*\\).*/\\1/;q')  # the way out\n"
      "export NCCL_SOCKET_IFNAME=$interface GLOO_SOCKET_IFNAME=$interface\n";
  if (plan.library == "gloo" || plan.library == "torchft")
    return text + kGlooBackend + start_of_training(plan);
  text +=
      nccl_sockets(plan.way_out_per_accelerator ? tcp.connections / plan.hardware.per_node : tcp.connections);
  text += nccl_algorithm(choice.candidate.ways);
  return text + start_of_training(plan);
}

}  // namespace longhaul
