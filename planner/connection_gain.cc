#include "planner/connection_gain.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "net/topologies/matrix.h"
#include "planner/evaluation.h"
#include "planner/extrapolation.h"
#include "planner/plan_request.h"
#include "planner/replay_task.h"

namespace longhaul {
namespace {

// Ways out of a node, each with connections of its own.
int ways_of(const PlanRequest& plan) {
  return plan.way_out_per_accelerator ? std::max(1, plan.hardware.per_node) : 1;
}

// Of a pair of nodes, for each way out.
int connections_of(const PlanRequest& plan, const Evaluation& choice) {
  return choice.config.network.tcp.connections / ways_of(plan);
}

double assumed_gain(const PlanRequest& plan, const Evaluation& choice) {
  const NetworkSpec& network = choice.config.network;
  const double connections = network.tcp.connections;
  return std::min(connections, network.topology.options.value("connections_gain", connections)) /
         ways_of(plan);
}

// "8 connections of two nodes count as 8 times one"
std::string assumption(const PlanRequest& plan, const Evaluation& choice) {
  return fmt::format("{} connections of two nodes count as {} times one", connections_of(plan, choice),
                     format_number(assumed_gain(plan, choice)));
}

// Pairs of sites for which several connections were measured, of all.
std::pair<int, int> measured_pairs(const Case& config) {
  const Matrix matrix = load_matrix(config.network.topology.options.at("matrix"), config.folder);
  int measured = 0, all = 0;
  for (std::size_t i = 0; i < matrix.sites().size(); ++i)
    for (std::size_t j = i + 1; j < matrix.sites().size(); ++j) {
      ++all;
      measured += matrix.between(matrix.sites()[i], matrix.sites()[j]).together.empty() ? 0 : 1;
    }
  return {measured, all};
}

}  // namespace

bool rests_on_gain(const Evaluation& choice) {
  const NetworkSpec& network = choice.config.network;
  return network.topology.name == "regions" && network.tcp.connections > 1;
}

std::vector<GainTime> times_by_gain(const PlanRequest& plan, const Evaluation& choice,
                                    const PlanTools& tools) {
  std::vector<GainTime> times;
  if (!rests_on_gain(choice)) return times;
  if (const auto [measured, all] = measured_pairs(choice.config); measured == all) return times;
  std::vector<Case> cases;
  std::vector<std::string> names;
  for (const double gain : {kPublishedGain, 1.}) {
    if (gain >= assumed_gain(plan, choice)) continue;
    Case config = choice.config;
    config.resolved["network"]["topology"]["regions"]["connections_gain"] = gain * ways_of(plan);
    config.network = parse_network(config.resolved.at("network"), config.workers(), config.folder);
    config.network.rank_order = choice.config.network.rank_order;
    cases.push_back(std::move(config));
    names.push_back(fmt::format("a gain of {}", gain));
    times.push_back({gain, 0});
  }
  if (times.empty()) return times;
  const std::vector<TrainingTime> found = times_of(cases, tools, names, "connections that carry less");
  for (std::size_t i = 0; i < times.size(); ++i)
    times[i].total_s = std::max(choice.total_s(), found[i].total_s);  // a slower network is never faster
  return times;
}

std::string gain_in_short(const PlanRequest& plan, const Evaluation& choice,
                          const std::vector<GainTime>& times) {
  std::vector<std::string> words;
  for (const GainTime& one : times)
    words.push_back(human_duration(one.total_s) +
                    (one.gain > 1 ? fmt::format(" where they carry {} times as much as one", one.gain)
                                  : " where they carry no more than one"));
  return assumption(plan, choice) + ": " + join(words) + ".";
}

std::string gain_in_words(const PlanRequest& plan, const Evaluation& choice,
                          const std::vector<GainTime>& times) {
  if (!rests_on_gain(choice)) return "";
  const auto [measured, all] = measured_pairs(choice.config);
  const bool is_given = plan.written.contains("connections_gain");
  if (measured == all)
    return fmt::format(
        "{} connections of two nodes carry at most what several were measured to carry together{}.",
        connections_of(plan, choice),
        is_given ? "; connections_gain counts where it says less than was measured" : "");
  std::string words = assumption(plan, choice);
  words += is_given ? " (connections_gain)" : ", an upper bound that nothing here measures";
  if (measured > 0)
    words += fmt::format(
        "; {} of {} pairs of sites {}", measured, all,
        is_given ? "carry at most what several were measured to carry, whatever connections_gain says"
                 : "as several were measured");
  std::vector<std::string> others;
  for (const GainTime& one : times)
    others.push_back(fmt::format("with {} times{} {}", format_number(one.gain),
                                 one.gain == kPublishedGain ? ", the one published figure (of eight)," : "",
                                 human_duration(one.total_s)));
  if (!others.empty()) words += ". The training takes " + enumeration(others, "and");
  return words + ". To know it run iperf3 with and without -P, or give connections_gain.";
}

}  // namespace longhaul
