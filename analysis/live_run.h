// A run that is still going on, from what is on disk: its summary is written now and then only.
#pragma once

#include <string>

#include "analysis/run_directory.h"

namespace longhaul {

// A process writes this run: its `.lock` is held. Of a run that was killed it is not.
bool is_live(const std::string& run_folder);

// The directory of a live run: the records of its summary, if it has one yet, and for every case and training
// that has begun since a fresh one. `status` of what is not done is `running` or `waiting`. Throws RunError
// if even the manifest is missing.
RunDirectory open_live_run(const std::string& run_folder);

}  // namespace longhaul
