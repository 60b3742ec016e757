// longhaul-sim: replays the trace of one case over its network.
#include <CLI/CLI.hpp>

#include "core/errors.h"
#include "core/program_main.h"
#include "core/source_commit.h"
#include "replay/replay.h"
#include "sim/simulated_replay.h"

namespace {

int replay_command(int argc, char** argv) {
  longhaul::ReplayArguments arguments;
  CLI::App app("Replays the exchanges of one case over its network on ns-3 (docs/formats.md).",
               "longhaul-sim");
  longhaul::declare_replay_arguments(app, arguments);
  app.set_version_flag("--version",
                       std::string("longhaul-sim " LONGHAUL_VERSION " (") + longhaul::source_commit() + ")");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? longhaul::kDone : longhaul::kInputWrong;
  }
  return longhaul::replay_program("longhaul-sim", arguments,
                                  [](const longhaul::Case& one, const longhaul::Trace& trace,
                                     const std::string& folder, longhaul::ProgressReporter& reporter) {
                                    return longhaul::simulated_replay(one, trace, folder, reporter);
                                  });
}

}  // namespace

int main(int argc, char** argv) {
  return longhaul::program_main("longhaul-sim", [&] { return replay_command(argc, argv); });
}
