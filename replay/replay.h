// Trace → timeline. Each replica is a state machine on a clock: it computes its inner steps, posts the
// exchanges of a step when its own compute is done, and waits only for those that it needs.
#pragma once

#include <functional>
#include <string>

#include "core/base/child_main.h"
#include "core/plan/trace.h"
#include "core/scenario/case.h"
#include "replay/network/network.h"
#include "replay/output/outputs.h"

namespace longhaul {

// Replays `trace` over a network on `clock` and tells `outputs`. Returns what they return. Throws InputError
// (trace and case do not fit), RunError (events ran out while an exchange is open; a stalled connection),
// Interrupted. The clock is closed at the end.
Json replay(const Case& config, const Trace& trace, ReplayOutputs& outputs, ProgressReporter& reporter,
            Clock& clock, const NetworkMaker& network_of);

// The same with the files of docs/formats.md, written into `folder` (which exists).
Json replay(const Case& config, const Trace& trace, const std::string& folder, ProgressReporter& reporter,
            Clock& clock, const NetworkMaker& network_of);

// The same with a clock of its own over a network that needs no ns-3: all fidelities but `packet`.
Json replay_alone(const Case& config, const Trace& trace, ReplayOutputs& outputs, ProgressReporter& reporter);

// The same with files, of one fidelity each, whatever the case says.
Json analytic_replay(const Case& config, const Trace& trace, const std::string& folder,
                     ProgressReporter& reporter);
Json flow_replay(const Case& config, const Trace& trace, const std::string& folder,
                 ProgressReporter& reporter);
Json linux_replay(const Case& config, const Trace& trace, const std::string& folder,
                  ProgressReporter& reporter);

// Whether a fidelity is replayed by longhaul-sim: longhaul itself replays the others. `flow` needs ns-3 no
// more, and stays there for what runs write.
bool needs_simulator(const std::string& fidelity);

// What the programs that replay one case share: longhaul-sim, and `longhaul analytic`, which needs no ns-3.
struct ReplayArguments {
  std::string case_file, trace_file, folder;
  int progress_descriptor = -1;
  bool quiet = false;
  bool is_emulated = false;  // over the kernel's TCP
  int threads = 1;           // of fidelity linux
};

using ReplayFunction =
    std::function<Json(const Case& config, const Trace& trace, const std::string& folder, ProgressReporter&)>;

// linux_replay by so many threads of the processor, with the same result.
ReplayFunction linux_replay_by(int threads);

// Reads case and trace, locks the folder, says what is to come, and runs `replay`. Returns the exit status.
int replay_program(const std::string& program, const ReplayArguments& arguments,
                   const ReplayFunction& replay);

// The options of both on their CLI11 application.
template <typename App>
void declare_replay_arguments(App& app, ReplayArguments& arguments) {
  app.add_option("--case", arguments.case_file, "case.json of the case")->required();
  app.add_option("--trace", arguments.trace_file, "trace.jsonl, or - for standard input")->required();
  app.add_option("--out", arguments.folder, "folder of the case; its tables are written there")->required();
  app.add_option("--progress-fd", arguments.progress_descriptor, "descriptor for progress as JSON lines");
  app.add_flag("--quiet", arguments.quiet, "no progress on the terminal");
}

}  // namespace longhaul
