#include "replay/replay_program.h"

#include <cstdio>
#include <fstream>
#include <iostream>

#include "core/child_main.h"
#include "core/errors.h"
#include "core/units.h"
#include "replay/estimate.h"

namespace longhaul {
namespace {

Trace read_trace_argument(const std::string& file) {
  if (file == "-") return read_trace(std::cin, "standard input");
  std::ifstream in(file);
  if (!in) throw InputError({file, "", "cannot be read", "a trace written by longhaul", ""});
  return read_trace(in, file);
}

// Before a run of hours begins, somebody should know; stderr is the log.txt of the case.
void announce(const std::string& program, const Case& one, const Trace& trace, bool quiet) {
  constexpr double kWorthAWarning_s = 180;
  const ReplayEstimate expected = estimate(one, trace);
  const bool is_long = expected.seconds > kWorthAWarning_s;
  if (quiet && !is_long) return;
  std::fprintf(stderr, "%s: %s%s transfers, %s of payload, fidelity %s: about %s\n", program.c_str(),
               is_long ? "warning: " : "", std::to_string(expected.transfers).c_str(),
               human_bytes(static_cast<double>(expected.payload_bytes)).c_str(), one.network.fidelity.c_str(),
               human_duration(expected.seconds).c_str());
  if (is_long && one.network.fidelity == "packet")
    std::fprintf(stderr, "%s: fidelity \"flow\" takes seconds, a larger network.tcp.segment fewer packets\n",
                 program.c_str());
}

Json run(const std::string& program, const ReplayArguments& arguments, const ReplayFunction& replay,
         ProgressReporter& reporter) {
  const Case one = read_case(arguments.case_file);
  const Trace trace = read_trace_argument(arguments.trace_file);
  const FolderLock lock(arguments.folder);
  try {
    check_network(one);
    announce(program, one, trace, arguments.quiet);
    return replay(one, trace, arguments.folder, reporter);
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
