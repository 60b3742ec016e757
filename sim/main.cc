// longhaul-sim: replays the trace of one case over its network.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "core/base/errors.h"
#include "core/base/program_main.h"
#include "core/base/source_commit.h"
#include "replay/replay.h"
#include "sim/simulated_replay.h"

namespace {

using namespace longhaul;

int replay_command(int argc, char** argv) {
  ReplayArguments arguments;
  CLI::App app("Replays the exchanges of one case over its network on ns-3 (docs/formats.md).",
               "longhaul-sim");
  declare_replay_arguments(app, arguments);
  app.set_version_flag("--version",
                       std::string("longhaul-sim " LONGHAUL_VERSION " (") + source_commit() + ")");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    std::fprintf(stderr, "error: %s\n", command_line_error(app, error, {argv + 1, argv + argc}).what());
    return kInputWrong;
  }
  return replay_program(
      "longhaul-sim", arguments,
      [](const Case& config, const Trace& trace, const std::string& folder, ProgressReporter& reporter) {
        return simulated_replay(config, trace, folder, reporter);
      });
}

}  // namespace

int main(int argc, char** argv) {
  return program_main("longhaul-sim", [&] { return replay_command(argc, argv); });
}
