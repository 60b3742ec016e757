// What the programs that replay one case share.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/units.h"
#include "net/collectives/collective.h"
#include "net/topologies/registry.h"
#include "replay/placement/optimized_order.h"
#include "replay/predict/estimate.h"
#include "replay/replay.h"

namespace longhaul {
namespace {

Trace read_trace_argument(const std::string& file) {
  if (file == "-") return read_trace(std::cin, "standard input");
  std::ifstream in(file);
  if (!in) throw InputError({file, "", "cannot be read", "a trace written by longhaul", ""});
  return read_trace(in, file);
}

// Whether the trace has what the case has inside its steps, by collectives that give what they are asked for.
void check_step_graph(const Case& config, const StepGraph& graph, const std::string& file) {
  if (graph.is_empty() == config.parallelism.is_on())
    throw InputError({file, "step_graph",
                      graph.is_empty() ? "this key is missing" : "found, but the case has no parallelism",
                      "the trace of this case", ""});
  using Kind = OperationKind;
  using Purpose = Collective::Purpose;
  constexpr std::pair<Kind, Purpose> kGiven[] = {{Kind::kAllReduce, Purpose::kAllReduce},
                                                 {Kind::kAllGather, Purpose::kAllGather},
                                                 {Kind::kReduceScatter, Purpose::kReduceScatter},
                                                 {Kind::kAllToAll, Purpose::kAllToAll}};
  for (std::size_t i = 0; i < graph.collectives.size(); ++i) {
    const StepCollective& of = graph.collectives[i];
    const std::string path = element_path("step_graph.collectives", i);
    const auto given = std::find_if(std::begin(kGiven), std::end(kGiven),
                                    [&](const auto& one) { return one.first == of.kind; });
    if (given == std::end(kGiven))
      throw InputError({file, path + ".kind", fmt::format("found \"{}\"", word_of(of.kind)),
                        "all-reduce, all-gather, reduce-scatter or all-to-all", ""});
    try {
      if (find_collective(of.collective).purpose() == given->second) continue;
    } catch (const InputError&) {
    }
    throw InputError({file, path + ".collective",
                      fmt::format("found \"{}\" of kind {}", of.collective, word_of(of.kind)),
                      "a collective of that kind (longhaul list collectives)", ""});
  }
}

// A user should know before a run of hours begins; stderr is the log.txt of the case.
void announce(const std::string& program, const Case& config, const Trace& trace, bool quiet) {
  constexpr double kWorthAWarning_s = 180;
  const ReplayEstimate expected = estimate(config, trace);
  const bool is_long = expected.seconds > kWorthAWarning_s;
  if (quiet && !is_long) return;
  const std::string segments = segments_in_words(expected);
  std::string text = fmt::format(
      "{}: {}{} transfers, {} of payload, fidelity {}: about {}{}\n", program, is_long ? "warning: " : "",
      expected.transfers, human_bytes(static_cast<double>(expected.payload_bytes)), config.network.fidelity,
      segments.empty() ? "" : segments + ", ", human_duration(expected.seconds));
  if (is_long && config.network.fidelity == "packet")
    text += program + ": fidelity \"flow\" takes seconds, a larger network.tcp.segment fewer packets\n";
  std::fputs(text.c_str(), stderr);
}

Case checked_case(const std::string& file) {
  Case config = read_case(file);
  try {
    check_topology_options(config);
    // What the search for an order of ranks reads of the method (optimized_order.cc).
    check_declared(section("", {text("all_reduce"), number("overlap_backward").at_least(0).at_most(1),
                                integer("buckets").at_least(1)}),
                   config.method.options, "method");
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
  return config;
}

Json run(const std::string& program, const ReplayArguments& arguments, const ReplayFunction& replay,
         ProgressReporter& reporter) {
  Case config = checked_case(arguments.case_file);
  const Trace trace = read_trace_argument(arguments.trace_file);
  check_step_graph(config, trace.plan.step_graph, arguments.trace_file);
  const FolderLock lock(arguments.folder);
  try {
    if (config.network.rank_order.kind == RankOrderSpec::Kind::kOptimized) {
      const OptimizedOrder order = optimized_order(config, trace.plan);
      config.network.rank_order.places = order.places;
      if (!arguments.quiet) fmt::print(stderr, "{}: {}\n", program, gain_in_words(order));
    }
    check_network(config, arguments.is_emulated);
    announce(program, config, trace, arguments.quiet);
    return replay(config, trace, arguments.folder, reporter);
  } catch (const Json::exception& error) {
    throw in_our_words(error).in_file(arguments.case_file);
  } catch (const InputError& error) {
    throw error.parts().file.empty() ? error.in_file(arguments.case_file) : error;
  }
}

}  // namespace

int replay_program(const std::string& program, const ReplayArguments& arguments,
                   const ReplayFunction& replay) {
  ProgressReporter reporter(program, arguments.progress_descriptor, arguments.quiet);
  return child_main(reporter, [&] { return run(program, arguments, replay, reporter); });
}

}  // namespace longhaul
