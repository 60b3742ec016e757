#include "cli/replayed_record.h"

#include <filesystem>
#include <fstream>

#include "analysis/case_record.h"
#include "core/base/child_main.h"
#include "core/base/errors.h"
#include "replay/replay.h"

namespace longhaul {

Json replayed_record(const Case& config, const Trace& trace, const std::string& folder) {
  namespace fs = std::filesystem;
  const std::string& fidelity = config.network.fidelity;
  if (fidelity == "packet")
    throw InputError("network.fidelity", "found \"packet\"", "flow, linux or analytic",
                     "ns-3 is another program");
  fs::create_directories(folder);
  {
    std::ofstream out(folder + "/trace.jsonl");
    write_trace(trace, out);
  }
  ProgressReporter silent("replay", -1, /*quiet=*/true);
  const auto replay = fidelity == "linux" ? linux_replay : fidelity == "flow" ? flow_replay : analytic_replay;
  replay(config, trace, folder, silent);
  Json record = case_record(config, folder, "", "done", "");
  fs::remove_all(folder);
  return record;
}

}  // namespace longhaul
