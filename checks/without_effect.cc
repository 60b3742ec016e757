#include "checks/without_effect.h"

#include <fmt/core.h>

#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "core/base/units.h"
#include "core/plan/trace.h"
#include "methods/common/registry.h"

namespace longhaul {
namespace {

// What stands in the scenario and does not count, or costs more than it gives.
std::vector<std::string> useless_values(const Scenario& scenario) {
  std::vector<std::string> warnings;
  const Json train = member(scenario.resolved, "train"),
             steps = member(member(scenario.written, "workload"), "steps");
  if (train.is_null()) return warnings;
  if (!steps.is_null() && steps != train["steps"])
    warnings.push_back(
        fmt::format("workload.steps = {} does not count: the {} steps of train.steps are replayed",
                    steps.dump(), train["steps"].dump()));
  constexpr int kBytes = 256, kMuchMore = 4 * kBytes;
  for (const Case& config : scenario.cases) {
    const ModelShape& model = config.train->model;
    const DataSpec::Kind kind = config.train->data.kind;
    if ((kind != DataSpec::Kind::kText && kind != DataSpec::Kind::kCorpus) || model.vocabulary < kMuchMore)
      continue;
    ModelShape small = model;
    small.vocabulary = kBytes;
    warnings.push_back(fmt::format(
        "train.model.vocabulary = {} with byte tokens, of which there are {}: the model has {} times "
        "the parameters that it can use",
        model.vocabulary, kBytes,
        format_number(std::round(10. * static_cast<double>(model.parameters()) /
                                 static_cast<double>(small.parameters())) /
                      10)));
    break;
  }
  return warnings;
}

// Times that know no losses.
std::vector<std::string> losses_without_effect(const Scenario& scenario) {
  for (const Case& config : scenario.cases) {
    const NetworkSpec& network = config.network;
    if (network.tcp.loss > 0 && (network.fidelity == "analytic" || network.message_time))
      return {fmt::format("network.tcp.loss = {} does not count {}", format_number(network.tcp.loss),
                          network.message_time ? "beside network.message_time"
                                               : "in fidelity analytic, which loses no packet")};
  }
  return {};
}

// In a sweep some cases may have no faults, or one stage.
std::vector<std::string> sections_of_no_case(const Scenario& scenario) {
  std::vector<std::string> warnings;
  const auto is_any = [&](const auto& is_so) { return any_of(scenario.cases, is_so); };
  if (scenario.written.contains("recovery") && !is_any([](const Case& one) { return one.has_absences(); }))
    warnings.push_back("recovery does not count: no fault makes a replica leave");
  const auto names_store = [](const Case& one) {
    return one.rollouts && one.resolved["rollouts"]["weights"].contains("store");
  };
  if (is_any(names_store) &&
      !is_any([](const Case& one) { return one.rollouts && one.rollouts->has_store(); }))
    warnings.push_back("rollouts.weights.store does not count: no case has distribution store");
  const Json weights = member(member(scenario.written, "rollouts"), "weights");
  const auto counts_only_with = [&](const char* key, const std::string& words, const auto& is_so) {
    if (weights.contains(key) &&
        !is_any([&](const Case& one) { return one.rollouts && is_so(*one.rollouts); }))
      warnings.push_back(fmt::format("rollouts.weights.{} does not count: {}", key, words));
  };
  counts_only_with("requests", "all cases have distribution store: store.concurrent is of its requests",
                   [](const RolloutSpec& rollouts) { return !rollouts.has_store(); });
  counts_only_with("fan_out", "no case has distribution relay-tree",
                   [](const RolloutSpec& rollouts) { return rollouts.weights.distribution == "relay-tree"; });
  if (is_any([](const Case& one) { return one.resolved.contains("pipeline"); }) &&
      !is_any([](const Case& one) { return one.pipeline.has_stages(); }))
    warnings.push_back("pipeline does not count in the replay: no case has stages (pipeline.stages above 1)");
  return warnings;
}

// The first step after which a rule posts; 0: none.
std::int64_t first_posting(const OperationRule& rule) {
  const std::int64_t least = std::max(1, rule.first_step), every = std::max(1, rule.every);
  const std::int64_t behind = ((rule.phase - least) % every + every) % every, first = least + behind;
  return rule.last_step > 0 && first > rule.last_step ? 0 : first;
}

// Operations of its method that begin when the case is over: 1-bit Adam's second stage, ...
std::vector<std::string> operations_that_never_come(const Case& config) {
  std::vector<std::string> warnings;
  for (const OperationRule& rule : plan_of(config).rules)
    if (const std::int64_t first = first_posting(rule); first > config.steps())
      warnings.push_back(fmt::format("{}: its operation \"{}\" never comes: it begins with step {} of {}",
                                     config.method.label, rule.name, first, config.steps()));
  return warnings;
}

// The rules of a case in writing: two cases with the same send the same at the same times.
std::string sent_by(const Case& config) {
  std::ostringstream out;
  Trace trace;
  trace.context = plan_context(config);
  trace.plan = plan_of(config);
  write_trace(trace, out);
  return out.str();
}

Case with_option(Case config, const Node& option) {
  config.method.options[option.key] = option.fallback;
  return config;
}

// Options of methods that leave numerics as they are, and with which no case sends anything else than with
// their default: buckets without a backward pass that overlaps, an all_reduce beside a codec that gathers.
// "library" is filled in where the scenario says nothing.
std::vector<std::string> timing_options(const Scenario& scenario) {
  std::vector<std::string> order;
  std::map<std::string, bool> counts;
  std::set<std::string> seen;
  for (const Case& config : scenario.cases) {
    if (!seen.insert(fmt::format("{}/{}/{}/{}", config.replicas, config.resolved["method"].dump(),
                                 member(config.resolved, "workload").dump(),
                                 member(config.resolved, "pipeline").dump()))
             .second)
      continue;
    for (const Node& option : method_named(config.method.name).options) {
      const Json found = member(config.method.options, option.key);
      if (!option.is_timing_only || found.is_null() || found == option.fallback || found == "library")
        continue;
      const std::string words = fmt::format("{}: {} = {}", config.method.label, option.key, found.dump());
      if (counts.emplace(words, false).second) order.push_back(words);
      if (!counts[words]) counts[words] = sent_by(config) != sent_by(with_option(config, option));
    }
  }
  std::vector<std::string> warnings;
  for (const std::string& words : order)
    if (!counts[words])
      warnings.push_back(
          words + " does not count: beside the method's other options it changes nothing that is sent");
  return warnings;
}

bool has_fifo(const TcpSpec& tcp) {
  return tcp.queue == "fifo" || tcp.trunk_queue == "fifo";
}

// Keys of network.tcp that stand there in vain, or mean more than they seem to.
std::vector<std::string> queues_and_windows(const Scenario& scenario) {
  constexpr double kManyProducts = 100;  // of round trips of 100 ms: ten seconds of queue
  constexpr int kLeastSegments = 2;      // of Linux's window
  const Json tcp = member(member(scenario.written, "network"), "tcp");
  const auto in_all = [&](const auto& is_so) {
    return none_of(scenario.cases, [&](const Case& one) { return !is_so(one); });
  };
  std::vector<std::string> warnings;
  if (tcp.contains("queue_size") && in_all([](const Case& one) { return !has_fifo(one.network.tcp); }))
    warnings.push_back("network.tcp.queue_size does not count: no case has a FIFO (network.tcp.queue)");
  if (tcp.contains("trunk_queue") && in_all([](const Case& one) {
        return one.network.tcp.trunk_queue == "fifo" && one.network.tcp.queue != "fifo" &&
               (one.network.topology.name == "star" || one.network.topology.name == "mesh");
      }))
    warnings.push_back(
        "network.tcp.trunk_queue does not count: a star and a mesh have no link between routers");
  if (tcp.contains("window") && tcp["window"] != "unlimited" &&
      in_all([](const Case& one) { return one.network.fidelity == "analytic"; }))
    warnings.push_back("network.tcp.window does not count in fidelity analytic, which has no windows");
  for (const Case& config : scenario.cases) {
    const TcpSpec& of_case = config.network.tcp;
    if (has_fifo(of_case) && !of_case.queue_bytes && of_case.queue_products > kManyProducts)
      add_new(fmt::format("network.tcp.queue_size = {} is a number of bandwidth-delay products; bytes have a "
                          "unit, as \"64KiB\"",
                          format_number(of_case.queue_products)),
              warnings);
    if (config.network.fidelity == "linux" && of_case.window &&
        *of_case.window < kLeastSegments * of_case.segment)
      add_new(fmt::format("network.tcp.window = {} counts as {} segments of {} B in fidelity linux",
                          human_bytes(*of_case.window), kLeastSegments, of_case.segment),
              warnings);
  }
  return warnings;
}

// A gain of several connections, where each pair has one.
std::vector<std::string> gain_of_one(const Scenario& scenario) {
  const auto names = [](const Case& config) {
    return config.network.topology.options.contains("connections_gain");
  };
  const auto counts = [&](const Case& config) { return names(config) && config.network.tcp.connections > 1; };
  if (!any_of(scenario.cases, names) || any_of(scenario.cases, counts)) return {};
  return {
      "network.topology.regions.connections_gain does not count: each pair has one connection "
      "(network.tcp.connections)"};
}

}  // namespace

std::vector<std::string> without_effect(const Scenario& scenario) {
  std::vector<std::string> warnings = useless_values(scenario);
  const auto add = [&](std::vector<std::string> more) {
    for (std::string& warning : more) add_new(warning, warnings);
  };
  add(losses_without_effect(scenario));
  add(sections_of_no_case(scenario));
  add(timing_options(scenario));
  add(gain_of_one(scenario));
  add(queues_and_windows(scenario));
  for (const Case& config : scenario.cases) add(operations_that_never_come(config));
  return warnings;
}

}  // namespace longhaul
