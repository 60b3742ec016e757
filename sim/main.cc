// longhaul-sim: replays the trace of one case over its network.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "core/case.h"
#include "core/child_main.h"
#include "core/errors.h"
#include "core/trace.h"
#include "core/units.h"
#include "net/estimate.h"
#include "sim/replay/replay.h"

namespace longhaul {
namespace {

struct Arguments {
  std::string case_file, trace_file, folder;
  int progress_descriptor = -1;
  bool quiet = false;
};

Trace read_trace_argument(const std::string& file) {
  if (file == "-") return read_trace(std::cin, "standard input");
  std::ifstream in(file);
  if (!in) throw InputError({file, "", "cannot be read", "a trace written by longhaul", ""});
  return read_trace(in, file);
}

// Before a run of hours begins, somebody should know; stderr is the log.txt of the case.
void announce(const Case& one, const Trace& trace, bool quiet) {
  constexpr double kWorthAWarning_s = 180;
  const ReplayEstimate expected = estimate(one, trace);
  const bool is_long = expected.seconds > kWorthAWarning_s;
  if (quiet && !is_long) return;
  std::fprintf(stderr, "longhaul-sim: %s%s transfers, %s of payload, fidelity %s: about %s\n",
               is_long ? "warning: " : "", std::to_string(expected.transfers).c_str(),
               human_bytes(static_cast<double>(expected.payload_bytes)).c_str(), one.network.fidelity.c_str(),
               human_duration(expected.seconds).c_str());
  if (is_long && one.network.fidelity == "packet")
    std::fprintf(
        stderr,
        "longhaul-sim: fidelity \"flow\" takes seconds, a larger network.tcp.segment fewer packets\n");
}

Json run(const Arguments& arguments, ProgressReporter& reporter) {
  const Case one = read_case(arguments.case_file);
  const Trace trace = read_trace_argument(arguments.trace_file);
  const FolderLock lock(arguments.folder);
  try {
    check_network(one);
    announce(one, trace, arguments.quiet);
    return replay(one, trace, arguments.folder, reporter);
  } catch (const InputError& error) {
    throw error.parts().file.empty() ? error.in_file(arguments.case_file) : error;
  }
}

}  // namespace
}  // namespace longhaul

int main(int argc, char** argv) {
  longhaul::Arguments arguments;
  CLI::App app("Replays the exchanges of one case over its network on ns-3 (docs/formats.md).",
               "longhaul-sim");
  app.add_option("--case", arguments.case_file, "case.json of the case")->required();
  app.add_option("--trace", arguments.trace_file, "trace.jsonl, or - for standard input")->required();
  app.add_option("--out", arguments.folder, "folder of the case; its tables are written there")->required();
  app.add_option("--progress-fd", arguments.progress_descriptor, "descriptor for progress as JSON lines");
  app.add_flag("--quiet", arguments.quiet, "no progress on the terminal");
  app.set_version_flag("--version", std::string("longhaul-sim " LONGHAUL_VERSION));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? longhaul::kDone : longhaul::kInputWrong;
  }
  longhaul::ProgressReporter reporter("longhaul-sim", arguments.progress_descriptor, arguments.quiet);
  return longhaul::child_main(reporter, [&] { return longhaul::run(arguments, reporter); });
}
