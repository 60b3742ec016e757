#include "checks/fidelity_advice.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "analysis/changing_links.h"
#include "analysis/residual.h"
#include "analysis/text.h"
#include "checks/validated_scenario.h"
#include "checks/work_estimate.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "methods/common/registry.h"
#include "net/tcp/connection.h"
#include "net/topologies/registry.h"

namespace longhaul {
namespace {

// A case in another fidelity.
Case in_fidelity(Case config, const std::string& fidelity) {
  config.network.fidelity = fidelity;
  return config;
}

// Of its queues alone, whatever library carries the exchanges.
double queue_residual(NetworkSpec network, const std::string& fidelity) {
  network.fidelity = fidelity;
  network.library = "plain";
  return class_residual(network);
}

// Why a case should be replayed in `linux`, and how near that is; "" where nothing speaks for it.
struct Reason {
  std::string why, of_linux;
};

std::string measured_in_words(double residual) {
  return residual < 1 ? fmt::format("linux was measured, to {:.0f} %", 100 * residual)
                      : "linux sends every packet there, with an error that is not known";
}

// Whether connections of a long round trip are silent for longer than a time-out, and then send so little
// that the window which is left decides: up to so many bandwidth-delay products were measured to be off
// (results/reference/kernel/README.md).
bool restarts_decide(const Case& config) {
  constexpr double kLongRtt_s = 0.15, kMostProducts = 5;
  const TcpSpec& tcp = config.network.tcp;
  if (!tcp.slow_start_after_idle || tcp.congestion_control == "bbr") return false;
  const Topology topology = placed_topology(config);
  int farthest = 0;
  for (int other = 1; other < topology.replicas(); ++other)
    if (farthest == 0 || topology.rtt_s(0, other) > topology.rtt_s(0, farthest)) farthest = other;
  if (farthest == 0 || topology.rtt_s(0, farthest) < kLongRtt_s) return false;
  const ConnectionFacts facts = connection_facts(topology, tcp, 0, farthest);
  const ReplayEstimate replay = replay_estimate(config);
  if (replay.transfers == 0) return false;
  const double message = static_cast<double>(replay.payload_bytes) / static_cast<double>(replay.transfers),
               product = alone_rate(facts, tcp.segment, tcp.connections) * facts.rtt_s,
               first = 1. * kInitialWindowSegments * tcp.segment * tcp.connections;
  const double step_s = config.workload.step_time.mean_s();
  return message > first && message <= kMostProducts * product &&
         any_of(plan_of(config).rules, [&](const OperationRule& rule) {
           return rule.every * step_s > retransmission_timeout_s(facts.rtt_s);
         });
}

Reason why_linux(const Case& config) {
  const NetworkSpec& network = config.network;
  const std::string setting = queue_setting(network), &fidelity = network.fidelity;
  NetworkSpec lossy = network;
  if (any_of(network.variation.faults, [](const Fault& fault) { return fault.loss > 0; }))
    lossy.tcp.loss = std::max(network.tcp.loss, 1e-9);
  const double own = queue_residual(network, fidelity), of_linux = queue_residual(lossy, "linux");
  const std::string measured = measured_in_words(of_linux);
  if (fidelity == "analytic") {
    if (setting == "host") return {};
    return {fmt::format("{} does not count in fidelity analytic", setting), measured};
  }
  if (own == 1) return {fmt::format("{} was not measured with {}", fidelity, setting), measured};
  if (fidelity == "packet" && setting.find("fifo") != std::string::npos && network.tcp.connections > 1)
    return {"packet was not measured with several connections behind a FIFO", measured};
  if (fidelity == "packet" && own > of_linux)
    return {fmt::format("packet was measured to {:.0f} % with {}", 100 * own, setting), measured};
  if (fidelity == "flow") {
    std::vector<std::string> outside;
    for (const std::string& one : network_validity(config).outside)
      if (one.rfind("BBR", 0) == 0 || one == "faults that lose packets") outside.push_back(one);
    if (!outside.empty()) return {"flow was not measured for " + join(outside), measured};
    if (const ChangingLinks changing = changing_links(network); own > of_linux && !changing.kinds.empty())
      return {
          fmt::format("flow was measured to {:.0f} % with {}", 100 * own, enumeration(changing.kinds, "and")),
          measured};
  }
  if (restarts_decide(config))
    return {fmt::format("after a silence {} is {} % off at a round trip of 200 ms", fidelity,
                        fidelity == "flow" ? "4 to 35" : "6 to 24"),
            "linux to 3.5 %"};
  return {};
}

bool may_be_linux(const NetworkSpec& network) {
  return network.fidelity != "linux" && !network.message_time;
}

// What a fidelity `flow` would refuse has no residual there, but for congestion controls that differ.
bool may_be_flow(const NetworkSpec& network) {
  return network.fidelity == "linux" && network.tcp.host_controls.empty() &&
         none_of(network.variation.background, [&](const BackgroundSpec& others) {
           return others.congestion_control.value_or(network.tcp.congestion_control) !=
                  network.tcp.congestion_control;
         });
}

// What the cases of one reason take together.
struct Cost {
  std::size_t cases = 0;
  double segments = 0, seconds = 0, instead_s = 0;
};

struct Advice {
  std::string words;  // without what it costs
  bool is_linux = true;
  ReplayEstimate replay, instead;
};

std::optional<Advice> advice_on(const Case& config) {
  if (config.replicas < 2) return std::nullopt;
  if (may_be_linux(config.network)) {
    const auto [why, of_linux] = why_linux(config);
    if (why.empty()) return std::nullopt;
    const bool is_refused = config.network.tcp.loss > 0 && config.network.tcp.loss_response != "linux";
    return Advice{fmt::format("network.fidelity \"linux\"{}: {}; {}",
                              is_refused ? " and network.tcp.loss_response \"linux\"" : "", why, of_linux),
                  true,
                  replay_estimate(in_fidelity(config, "linux")),
                  {}};
  }
  if (!may_be_flow(config.network)) return std::nullopt;
  const Case as_flow = in_fidelity(config, "flow");
  const Validity validity = network_validity(as_flow);
  if (validity.residual == 1 || !why_linux(as_flow).why.empty()) return std::nullopt;
  return Advice{
      fmt::format("network.fidelity \"flow\" was measured here, to {:.0f} %", 100 * validity.residual), false,
      replay_estimate(as_flow), replay_estimate(config)};
}

}  // namespace

std::vector<std::string> fidelity_advice(const Scenario& scenario) {
  constexpr double kWorthFlow_s = 60;
  std::map<std::string, std::optional<Advice>> known;
  nlohmann::ordered_map<std::string, Cost> costs;
  std::set<std::string> of_linux;
  for (const Case& config : scenario.cases) {
    const auto [found, is_new] = known.try_emplace(network_key(config));
    if (is_new) found->second = advice_on(config);
    if (!found->second) continue;
    const Advice& advice = *found->second;
    if (advice.is_linux) of_linux.insert(advice.words);
    Cost& cost = costs[advice.words];
    ++cost.cases;
    cost.segments +=
        static_cast<double>(advice.replay.segments) + static_cast<double>(advice.replay.segments_of_others);
    cost.seconds += advice.replay.seconds;
    cost.instead_s += advice.instead.seconds;
  }
  std::vector<std::string> sentences;
  for (const auto& [words, cost] : costs) {
    const std::string together = cost.cases > 1 ? fmt::format(" for {} cases", cost.cases) : "";
    if (of_linux.count(words) > 0)
      sentences.push_back(fmt::format("{}; about {} segments, {} on one core{}", words,
                                      human_count(cost.segments), human_duration(cost.seconds), together));
    else if (cost.instead_s > kWorthFlow_s)
      sentences.push_back(fmt::format("{}, and takes about {} instead of {}{}", words,
                                      human_duration(cost.seconds), human_duration(cost.instead_s),
                                      together));
  }
  return sentences;
}

}  // namespace longhaul
