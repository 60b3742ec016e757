// longhaul validate: runs that others measured, predicted beside measured.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

struct ValidateOptions {
  std::vector<std::string> names;  // of scenarios/validation, or files; empty: all of that folder
  std::string out;                 // keeps the run directories there; empty: they are removed
  std::string format = "text";     // or markdown
  int jobs = 1;
  std::vector<std::string> command;  // as typed, for the manifests
};

// Replays each scenario and prints the table. Returns the exit status: kDone however far off a prediction is,
// kRunFailed where a case could not be replayed. Throws InputError and RunError.
int validate_command(const ValidateOptions& options);

// The scenario files that `names` stand for, in that order; all of `folder`, by name, without any. A name
// with a slash or ".json" is a file. Throws InputError for a name that the folder does not hold.
std::vector<std::string> validation_files(const std::string& folder, const std::vector<std::string>& names);

}  // namespace longhaul
