// Opening run directories for a command that takes several: what cannot be read is named, and the others are
// still used.
#pragma once

#include <string>
#include <vector>

#include "core/options.h"

namespace longhaul {

struct RunDirectory {
  std::string folder;
  Json summary;               // as read_summary gives it
  Json manifest;              // {} where it is missing or damaged
  Json written;               // scenario.json; null where it is missing or damaged
  std::vector<Json> records;  // of summary["cases"]: objects that have at least a `case`

  std::string case_folder(const Json& record) const;
  // "" for a case that trains nothing.
  std::string train_folder(const Json& record) const;
};

struct RunDirectories {
  std::vector<RunDirectory> runs;     // those that could be opened, in the order given; one without cases too
  std::vector<std::string> problems;  // one sentence for each that could not, and for what is damaged in one
};

// A folder that is no run, that is given twice, that is damaged or of a newer format is a problem; a run
// without cases and a record that is no record are problems too. Throws InputError, with all of the problems,
// where not one run is left that has a case.
RunDirectories open_runs(const std::vector<std::string>& folders);

// Why a table that is finished cannot be: "" or "FILE: is cut off, its last line (1234) has no end". For the
// files of a case with `done`, which nobody is writing any more; readers leave such a line out. A file that
// does not exist is not cut off.
std::string cut_off(const std::string& file);

}  // namespace longhaul
