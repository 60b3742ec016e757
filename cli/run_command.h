// longhaul run: trains, replays, and writes the run directory.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

struct RunOptions {
  std::string scenario;
  std::string out;                       // empty: results/NAME
  std::vector<std::string> assignments;  // --set
  int jobs = 1;
  std::string shard = "1/1";
  bool resume = false;
  std::string only;     // cases, train, replay, report; empty: all
  std::string device;   // empty: the scenario's
  std::string backend;  // of the trainer; empty: its default
  bool quiet = false;
  bool silent = false;               // not even the report's path on standard output
  std::string timeline;              // of each case: json, gz, none; empty: json where there are few cases
  std::vector<std::string> command;  // as typed, for the manifest
};

// Returns the exit status; throws InputError and RunError.
int run_command(const RunOptions& options);

}  // namespace longhaul
