// The files of one training, train/KEY/ of the run directory (docs/formats.md).
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "core/csv.h"
#include "core/options.h"
#include "trainer/evaluation.h"

namespace longhaul {

class TrainingFiles {
 public:
  // Begins anew: what an earlier training left is overwritten. Throws RunError where the folder cannot be
  // written.
  explicit TrainingFiles(const std::string& folder);

  void write(const Evaluation& evaluation);  // and flushes all files: a killed run leaves what it had
  void write_step_times(int step, const std::vector<double>& seconds);  // by replica
  std::ostream& exchanges() { return exchanges_; }
  // training.json, and last of all `done`.
  void finish(const Json& training);

 private:
  void flush();

  std::string folder_;
  CsvWriter metrics_, step_times_;
  std::ofstream exchanges_;
};

}  // namespace longhaul
