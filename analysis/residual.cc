#include "analysis/residual.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "analysis/changing_links.h"
#include "analysis/text.h"
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "net/library.h"
#include "net/topologies/registry.h"
#include "net/variation/link_trace.h"
#include "net/variation/path_losses.h"
#include "net/variation/struck_links.h"

namespace longhaul {

namespace {

// What was measured, and how it came out: `flow` against packets (results/reference/residuals: README.md by
// queue, loss.md, overlap.md, scale.md) and with BBR against the kernel (results/reference/kernel/bbr.md);
// packets, which count as right where none is lost, against the kernel (results/reference/packets.md). Behind
// FIFOs those are of one connection: with several packets take up to 2.6 times as long as the kernel.
struct MeasuredQueue {
  std::string_view fidelity, setting;
  double residual;
};
constexpr MeasuredQueue kQueues[] = {{"flow", "host", 0.07},          {"flow", "host+loss", 0.2},
                                     {"flow", "fq_codel+ecn", 0.15},  {"flow", "host+bbr", 0.1},
                                     {"flow", "host+bbr+loss", 0.1},  {"packet", "host", 0},
                                     {"packet", "fq_codel+ecn", 0},   {"packet", "host+trunk-fifo", 0.5},
                                     {"packet", "fifo", 0.5},         {"packet", "host+loss", 0.55},
                                     {"linux", "host", 0.07},         {"linux", "fifo", 0.25},
                                     {"linux", "fq_codel+ecn", 0.15}, {"linux", "host+bbr", 0.07},
                                     {"linux", "host+loss", 0.25},    {"linux", "fifo+loss", 0.25},
                                     {"linux", "fifo+bbr", 0.55},     {"linux", "fifo+some-bbr", 0.55}};
constexpr int kMeasuredBuckets = 24;
struct MeasuredPaths {
  int connections;
  double least_rtt_s, most_rtt_s;
};
constexpr MeasuredPaths kPaths = {64, 0.005, 0.35}, kLossyPaths = {8, 0.005, 0.35},
                        kBbrPaths = {4, 0.01, 0.2};
constexpr int kMeasuredReplicasWithBbr = 8;  // of stars, in rings and pairs
// 10 to 50 Mb/s were measured with BBR; half the least and twice the most count as near.
constexpr double kLeastRateWithBbr = 5e6, kMostRateWithBbr = 100e6;
// Of the slowest path: scale.md. At 200 kb/s and below `flow` is 4 to 28 % too fast, whose queues hold a
// second and more; above 10 Gb/s nothing was held against packets.
constexpr double kLeastRate = 500e3, kMostRate = 10e9;
// With direct, where all send to all, connections grow with them, and messages shorten.
constexpr std::int64_t kLeastDirectMessage = 5000;
// Of every collective (all_reduce_collectives(), and pairs): one that is added is to be measured too.
constexpr int kMeasuredReplicas = 1024, kMeasuredReplicasOfTwo = 128;  // "direct", "recursive-doubling"

double residual_of_queue(const std::string& fidelity, const std::string& setting) {
  for (const MeasuredQueue& queue : kQueues)
    if (queue.fidelity == fidelity && queue.setting == setting) return queue.residual;
  return 1;
}

// From the first replica to the one farthest from it, and from there to the one farthest from that: of a
// network without circles the longest of all.
double longest_rtt_s(const Topology& topology) {
  double longest = 0;
  int from = 0;
  for (int pass = 0; pass < 2; ++pass) {
    int farthest = from;
    for (int other = 0; other < topology.replicas(); ++other) {
      const double rtt_s = other == from ? 0 : topology.rtt_s(from, other);
      if (rtt_s > longest) farthest = other;
      longest = std::max(longest, rtt_s);
    }
    from = farthest;
  }
  return longest;
}

// What the slowest link, or the connections of a pair between two sites, carry at most: bit/s. Also while
// faults and traces make links slower, but for those that carry nothing.
double slowest_rate(const Topology& topology, const NetworkSpec& network) {
  double slowest = topology.is_mesh() ? topology.rate(0) : kUnlimited;
  for (const Link& link : topology.links())
    slowest = std::min({slowest, link.rate_forward, link.rate_backward});
  for (const Fault& fault : network.variation.faults)
    for (const StruckLinks& struck : fault.rate > 0 ? struck_by(fault, topology) : std::vector<StruckLinks>())
      for (const int number : struck.links) {
        const Link& link = topology.links()[as_index(number)];
        slowest = std::min(slowest, fault.rate * std::min(link.rate_forward, link.rate_backward));
      }
  for (const TraceSpec& spec : network.variation.traces) {
    const LinkTrace trace = read_link_trace(spec, "network.variation.traces");
    for (const LinkTrace::Row& row : trace.rows())
      if (row.rate.value_or(0) > 0) slowest = std::min(slowest, *row.rate);
  }
  std::map<int, int> example;  // replica of a site
  for (std::size_t replica = 0; replica < topology.site_of().size(); ++replica)
    example.emplace(topology.site_of()[replica], static_cast<int>(replica));
  for (const auto& [site, replica] : example)
    for (const auto& [other_site, other] : example)
      if (site != other_site)
        slowest = std::min(slowest, network.tcp.connections * topology.connection_cap(replica, other));
  return slowest;
}

// Of BBR alone: what is outside, in words.
std::vector<std::string> outside_with_bbr(const Case& config, const Topology& topology,
                                          const std::string& collective) {
  std::vector<std::string> found;
  const NetworkSpec& network = config.network;
  if (config.replicas > kMeasuredReplicasWithBbr || network.topology.name != "star" ||
      (collective != "ring" && collective != "pair"))
    return {"BBR but in rings and pairs of up to 8 on a star"};
  double least = kUnlimited, most = 0;
  for (const Link& link : topology.links()) {
    least = std::min({least, link.rate_forward, link.rate_backward});
    most = std::max({most, link.rate_forward, link.rate_backward});
  }
  if (least < kLeastRateWithBbr || most > kMostRateWithBbr)
    found.push_back(
        fmt::format("BBR at {} (5 to 100 Mb/s)", human_rate(most > kMostRateWithBbr ? most : least)));
  if (!network.overrides.empty() || least != most) found.emplace_back("BBR on unequal links");
  if (!network.variation.is_empty()) found.emplace_back("BBR on links that change");
  return found;
}

bool loses_by_faults(const NetworkSpec& network) {
  return any_of(network.variation.faults, [](const Fault& fault) { return fault.loss > 0; });
}

// What simulated times in `measured` may be, each right to a factor of 1 ± residual; of ratios of two of
// them, right to (1 ± residual) / (1 ∓ residual), which for a residual of 1 may be anything.
Interval widened(const Interval& measured, double residual, bool is_ratio) {
  const double down = is_ratio ? (1 - residual) / (1 + residual) : 1 - residual,
               up = is_ratio ? (1 + residual) / (1 - residual) : 1 + residual;
  return {std::min(measured.low * down, measured.low * up),
          std::max(measured.high * up, measured.high * down)};
}

// Of the network model alone.
double model_residual(const Json& record) {
  if (const Json residual = member(record, "residual"); residual.is_number()) return residual;
  if (record.value("fidelity", "") != "flow" || record.contains("message_time_s")) return 0;
  const std::string queue = record.value("queue", "host");
  return queue == "host" ? residual_of_queue("flow", queue) : 1;
}

}  // namespace

std::string queue_setting(const NetworkSpec& network) {
  TcpSpec tcp = network.tcp;
  if (loses_by_faults(network)) tcp.loss = 1;
  return queue_setting(tcp);
}

std::string queue_setting(const TcpSpec& tcp) {
  const bool has_other_trunks = tcp.trunk_queue != "same" && tcp.trunk_queue != tcp.queue;
  const std::string bbr = tcp.has_only("bbr") ? "+bbr" : tcp.has_control("bbr") ? "+some-bbr" : "";
  return tcp.queue + (tcp.ecn ? "+ecn" : "") + bbr + (tcp.qdisc == "fq" ? "+fq" : "") +
         (tcp.loss > 0 ? "+loss" : "") + (has_other_trunks ? "+trunk-" + tcp.trunk_queue : "");
}

double class_residual(const NetworkSpec& network) {
  if (network.fidelity == "analytic" || network.message_time) return 0;
  const Library& library = library_named(network.library);
  return together(std::max(residual_of_queue(network.fidelity, queue_setting(network)),
                           library.is_plain() ? 0 : library.residual),
                  changing_links(network).residual);
}

Validity network_validity(const Case& config) {
  const NetworkSpec& network = config.network;
  Validity found{class_residual(network), {}};
  const auto note = [&](bool is_outside, const std::string& words) {
    if (is_outside) add_new(words, found.outside);
  };
  const std::string setting = queue_setting(network);
  const Library& library = library_named(network.library);
  const bool is_model = network.fidelity == "analytic" || network.message_time;  // of its own, and exact
  note(!is_model && !library.is_plain() && library.residual == 1, "library " + library.name);
  note(!is_model && residual_of_queue(network.fidelity, setting) == 1,
       "queue " + setting +
           (network.fidelity == "packet"  ? " in packets"
            : network.fidelity == "linux" ? " in fidelity linux"
                                          : ""));
  note(network.fidelity == "packet" && setting.find("fifo") != std::string::npos &&
           network.tcp.connections > 1,
       fmt::format("{} connections behind a FIFO (1)", network.tcp.connections));
  if (!is_model)
    for (const std::string& words : changing_links(network).outside) note(true, words);
  if (!found.outside.empty()) found.residual = 1;
  const bool is_linux = network.fidelity == "linux";
  if ((network.fidelity != "flow" && !is_linux) || network.message_time) return found;
  note(!is_linux && loses_by_faults(network), "faults that lose packets");
  const bool is_bbr = network.tcp.congestion_control == "bbr";
  const MeasuredPaths& paths = is_linux               ? kPaths
                               : is_bbr               ? kBbrPaths
                               : network.tcp.loss > 0 ? kLossyPaths
                                                      : kPaths;
  note(network.tcp.connections > paths.connections,
       fmt::format("{} connections (to {})", network.tcp.connections, paths.connections));
  Case any_order = config;  // who stands where changes no path, and an optimized order is not known here
  any_order.network.rank_order.kind = RankOrderSpec::Kind::kBlocks;
  const Topology topology = build_topology(any_order);
  // The kernel's own TCP alone carries more: check_losses() refuses it elsewhere.
  const double loss = lossiest_path(network, topology).loss, most_loss = most_measured_loss(network);
  constexpr double kRounding = 1e-9;
  note(loss > most_loss + kRounding,
       fmt::format("paths that lose {:.3g} % (to {:.3g} %)", 100 * loss, 100 * most_loss));
  const double rtt_s = longest_rtt_s(topology);
  note(topology.replicas() > 1 &&
           (rtt_s < paths.least_rtt_s - kRounding || rtt_s > paths.most_rtt_s + kRounding),
       fmt::format("a round trip of {:.4g} ms ({} to {})", 1000 * rtt_s,
                   human_number(1000 * paths.least_rtt_s), human_number(1000 * paths.most_rtt_s)));
  const double rate = slowest_rate(topology, network);
  note(topology.replicas() > 1 && rate != kUnlimited && (rate < kLeastRate || rate > kMostRate),
       fmt::format("a rate of {} ({} to {})", human_rate(rate), human_rate(kLeastRate),
                   human_rate(kMostRate)));
  if (is_linux) {
    if (!found.outside.empty()) found.residual = 1;
    return found;
  }
  const std::string collective = config.method.options.value("all_reduce", "pair");
  const bool is_one_of_two = collective == "direct" || collective == "recursive-doubling";
  const int most = is_one_of_two ? kMeasuredReplicasOfTwo : kMeasuredReplicas;
  note(config.replicas > most, fmt::format("{} replicas ({}: to {})", config.replicas, collective, most));
  if (is_bbr)
    for (const std::string& words : outside_with_bbr(config, topology, collective)) note(true, words);
  const std::int64_t message =
      config.workload.parameters * bytes_per_parameter(config.workload.wire) / config.replicas;
  note(collective == "direct" && message < kLeastDirectMessage,
       fmt::format("direct messages of {} bytes (from {})", message, kLeastDirectMessage));
  note(config.method.name == "ist", "all-to-all");
  const Json buckets = member(config.method.options, "buckets");
  note(buckets.is_number() && buckets > kMeasuredBuckets,
       fmt::format("{} buckets (to {})", buckets.dump(), kMeasuredBuckets));
  const std::string tensors = config.method.options.value("tensors", "flat");
  note(tensors != "flat", fmt::format("tensors \"{}\" (flat)", tensors));
  if (!found.outside.empty()) found.residual = 1;
  return found;
}

double network_residual(const Json& record) {
  const Json fitted = member(record, "fit_error");
  const double of_fit = fitted.is_number() ? fitted.get<double>() : 0;
  return together(model_residual(record), of_fit);
}

std::string outside_of(const Json& record) {
  if (record.value("fit_error", 0.) >= 1) return "how far the fit's values may be off";
  return record.value("outside", "this queue or loss");
}

std::string outside_in_words(const std::vector<Json>& records) {
  std::vector<std::string> reasons;
  std::size_t cases = 0;
  for (const Json& record : records) {
    if (network_residual(record) < 1) continue;
    ++cases;
    add_new(outside_of(record), reasons);
  }
  if (cases == 0) return "";
  return fmt::format(
      "{} of {} cases are outside of what the network model was measured for: {}. Claims on "
      "their times stay undecided.",
      cases, records.size(), named_few(reasons, 4));
}

OverSeeds over_seeds_of(const std::vector<double>& values, double residual, bool is_ratio) {
  const Interval interval = t_interval(values, 0.95);
  return {mean(values), interval, widened(interval, residual, is_ratio)};
}

OverSeeds over_seeds_of(const std::vector<double>& values, const std::vector<Interval>& possible) {
  const Interval interval = t_interval(values, 0.95);
  Interval widest = interval;
  for (std::size_t i = 0; i < values.size(); ++i) {
    widest.low = std::min(widest.low, interval.low + possible[i].low - values[i]);
    widest.high = std::max(widest.high, interval.high + possible[i].high - values[i]);
  }
  return {mean(values), interval, widest};
}

std::optional<Interval> possible_value(const Json& record, const std::string& metric) {
  const Json said = member(member(record, "possible"), metric);
  if (!said.is_array() || said.size() != 2 || !said[0].is_number() || !said[1].is_number())
    return std::nullopt;
  return Interval{said[0], said[1]};
}

Interval possible_value(const Json& record, const std::string& metric, double value) {
  return possible_value(record, metric)
      .value_or(widened({value, value}, network_residual(record), /*is_ratio=*/false));
}

std::string residual_in_words(double residual, const std::string& low, const std::string& high) {
  return fmt::format("the network model's {} % make that {} to {}", std::lround(100 * residual), low, high);
}

std::string unknown_residual_in_words(const std::string& outside) {
  return "the network model's error is not known for " + outside;
}

}  // namespace longhaul
