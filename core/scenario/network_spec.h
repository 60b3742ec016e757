// The section `network` of a resolved case, as typed values in SI units: topology, TCP, what overrides links,
// and what changes with time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/base/words.h"
#include "core/scenario/fault.h"

namespace longhaul {

// What the network joins the replicas by. core knows no topology: net/topologies/NAME.cc reads the options.
struct TopologySpec {
  std::string name;  // the key in network.topology
  Json options;      // the section of that name, with defaults
};

// Each message takes an independent log-normal time with this mean and standard deviation; std 0: always the
// mean; both 0: communication is free.
struct MessageTimeSpec {
  double mean = 0, std = 0;  // s
};

// What is different from the topology as built.
struct LinkOverride {
  std::string link;                     // name or glob; empty: the links of `replicas`
  std::pair<int, int> replicas{0, -1};  // first and last
  std::optional<double> up, down;       // bit/s; up is from the first to the second node of the name
  std::optional<double> delay;          // s, one way
};

// Which place each rank takes. Places are counted site by site: 0 … are those of the first site.
struct RankOrderSpec {
  enum class Kind { kBlocks, kRoundRobin, kRandom, kOptimized, kList } kind = Kind::kBlocks;
  std::vector<int> places;  // of kList: entry r is the place of rank r
};
template <>
struct Words<RankOrderSpec::Kind> {  // a list has no word
  static constexpr Word<RankOrderSpec::Kind> all[] = {{RankOrderSpec::Kind::kBlocks, "blocks"},
                                                      {RankOrderSpec::Kind::kRoundRobin, "round-robin"},
                                                      {RankOrderSpec::Kind::kRandom, "random"},
                                                      {RankOrderSpec::Kind::kOptimized, "optimized"}};
};

std::string to_string(RankOrderSpec::Kind kind);  // its word, or "list"

struct TcpSpec {
  std::optional<double> window;  // bytes; none: unlimited
  int connections = 1;
  std::string congestion_control, queue;
  std::vector<std::string> host_controls;  // by replica, with stages by worker; empty: all have that one
  std::string qdisc = "pfifo_fast";        // of the hosts: or fq
  std::string trunk_queue = "same";        // of links between routers: as `queue`, or fifo
  double queue_products = 1;               // of a fifo, in bandwidth-delay products
  std::optional<double> queue_bytes;       // of a fifo, instead
  bool ecn = false;
  double loss = 0;
  std::string loss_response = "linux";  // or ns3-3.37
  int segment = 1448;                   // bytes
  bool slow_start_after_idle = true;    // RFC 2861, as Linux has it on

  // Of what a replica sends.
  const std::string& congestion_control_of(int replica) const;
  // Whether any replica sends with that congestion control, and whether all do.
  bool has_control(const std::string& control) const;
  bool has_only(const std::string& control) const;
};

// Into what the messages of a collective are cut (net/collectives/slices.h).
struct SliceSpec {
  enum class Kind { kWhole, kBytes, kNccl, kGloo } kind = Kind::kWhole;
  std::int64_t bytes = 0;  // of kBytes, the largest slice
};

// What of a network changes with time. Times count from the beginning of the training.

// Which directions of a link are meant: forward is from the first to the second node of its name.
struct Directions {
  bool forward = true, backward = true;
};

struct TraceSpec {
  std::string link;  // a name or a glob
  std::string file;  // a path as it can be opened
  Directions directions;
  bool repeats = false;
  std::optional<double> period_s;  // of a trace that repeats; none: the time of its last row
};

// Traffic of others: on one link (`link`), or from one node to another (`from`, `to`).
struct BackgroundSpec {
  std::string link;  // a name or a glob; empty: from and to
  Directions directions;
  std::string from, to;
  // Exactly one of the three is given.
  std::optional<int> flows;     // long-lived TCP connections that take their max-min share
  std::optional<double> rate;   // bit/s on the wire, whatever others do
  std::optional<double> share;  // the same as a part of each link's own rate
  // Means of exponential times; none: always on.
  std::optional<double> on_s, off_s;
  std::optional<std::string> congestion_control;  // of flows; none: network.tcp's
};

// Log-normal factors of mean 1, drawn anew for each link and direction every `every_s`.
struct JitterSpec {
  double rate_sigma = 0, delay_sigma = 0;  // standard deviations of the logarithm
  double every_s = 1;
};

struct VariationSpec {
  std::vector<TraceSpec> traces;
  std::vector<BackgroundSpec> background;
  JitterSpec jitter;
  std::vector<Fault> faults;  // of links, in the scenario's section `faults`

  bool has_jitter() const { return jitter.rate_sigma > 0 || jitter.delay_sigma > 0; }
  bool is_empty() const { return traces.empty() && background.empty() && faults.empty() && !has_jitter(); }
};

struct NetworkSpec {
  std::string fidelity;  // flow, linux, packet, analytic
  TopologySpec topology;
  RankOrderSpec rank_order;
  std::vector<LinkOverride> overrides;          // in the order written; the last one wins
  std::optional<MessageTimeSpec> message_time;  // instead of what the links say
  bool barrier = false;                         // an exchange begins when all of its group are ready
  std::string library = "plain";                // net/library.h: what carries the exchanges
  SliceSpec slice;
  double eager = 0;  // bytes that a sender pushes before its receiver has posted; infinite: all
  double operation_overhead_s = 0;  // from the call of an operation until its member takes part
  // Bytes a second that a member's host copies and adds of what it receives, one message after another; none:
  // that takes no time. Of a library other than plain.
  std::optional<double> host_rate;
  TcpSpec tcp;
  VariationSpec variation;
};

// The whole section; files are relative to `folder`. `hosts`: all that send, the replicas first; 0: these
// alone. Throws InputError where values contradict each other.
NetworkSpec parse_network(const Json& json, int replicas, const std::string& folder, int hosts = 0);

// Of it, network.rank_order: a word or a list of places. Throws InputError for a list that is no permutation
// of 0 … replicas − 1.
RankOrderSpec parse_rank_order(const Json& json, int replicas);

// Of it, network.tcp: how a transfer is carried. Throws InputError where values contradict each other.
TcpSpec parse_tcp(const Json& json, int replicas);

// Of it, what changes with time; `network` is the whole section, because its other keys restrict it.
VariationSpec parse_variation(const Json& network, const std::string& folder);

// 3, "3", "3-7" or "all": the first and the last replica.
std::pair<int, int> parse_replica_range(const Json& range, int replicas, const std::string& path,
                                        const char* what = "a replica");

}  // namespace longhaul
