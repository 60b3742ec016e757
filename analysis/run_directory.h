// Opening run directories for a command that takes several: what cannot be read is named, and the others are
// still used.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/options.h"

namespace longhaul {

struct RunDirectory {
  std::string folder;         // of shards that were joined (shards.h) all of them: for people
  Json summary;               // as read_summary gives it
  Json manifest;              // {} where it is missing or damaged
  Json written;               // scenario.json; null where it is missing or damaged
  std::vector<Json> records;  // of summary["cases"]: objects that have at least a `case`

  std::map<std::string, std::string> shard_folders = {};  // by case, where shards were joined
  std::vector<std::string> missing_shards = {};           // "2/3", of a scenario that was split
  std::size_t missing_cases = 0;                          // in these

  std::string case_folder(const Json& record) const;
  // "" for a case that trains nothing.
  std::string train_folder(const Json& record) const;

 private:
  std::string folder_of(const Json& record) const;
};

struct RunDirectories {
  std::vector<RunDirectory> runs;     // those that could be opened, in the order given; one without cases too
  std::vector<std::string> problems;  // one sentence for each that could not, and for what is damaged in one
};

// A folder that is no run, that is given twice, that is damaged or of a newer format is a problem; a run
// without cases and a record that is no record are problems too. Throws InputError, with all of the problems,
// where not one run is left that has a case. Shards of one scenario are one run (shards.h).
RunDirectories open_runs(const std::vector<std::string>& folders);

// Why a table that is finished cannot be: "" or "FILE: is cut off, its last line (1234) has no end". For the
// files of a case with `done`, which nobody is writing any more; readers leave such a line out. A file that
// does not exist is not cut off.
std::string cut_off(const std::string& file);

// What several parts of the analysis ask of a case's folder.

// A JSON file; null where it does not exist or is damaged.
Json read_json_or_null(const std::string& file);

}  // namespace longhaul
