// The files of one training, train/KEY/ of the run directory (docs/formats.md).
#pragma once

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "core/base/csv.h"
#include "core/base/options.h"
#include "trainer/evaluation.h"

namespace longhaul {

class TrainingFiles {
 public:
  // Nothing is touched before begin() or continue_from(), and nothing at all where another process writes
  // them (`writes` false: of several ranks the first one does).
  explicit TrainingFiles(std::string folder, bool writes = true);

  const std::string& folder() const { return folder_; }

  // Begins anew: what an earlier training left is overwritten. Throws RunError where the folder cannot be
  // written.
  void begin();
  // Continues where the tables had the sizes that save() returned; what was written later is cut off.
  void continue_from(const Json& sizes);
  // Forces the tables to the disk; returns their sizes, {file: bytes}.
  Json save();

  void write(const Evaluation& evaluation);  // and flushes all files: a killed run leaves what it had
  // Of these replicas; `seconds` by replica, of all.
  void write_step_times(int step, const std::vector<int>& replicas, const std::vector<double>& seconds);
  // Of a hop with learned bits: those that a replica used in the step, and its gate.
  void write_bits(int step, int replica, int hop, int bits, double gate);
  // Shares of a part of the model's values: those that the step changed, and those since the row before.
  void write_changed(int step, int replica, const std::string& part, double in_step, double since_row);
  void write_speed(const Json& speed);  // speed.json
  std::ostream& exchanges() { return writes_ ? exchanges_ : discarded_; }
  // training.json, and last of all `done`.
  void finish(const Json& training);

 private:
  std::vector<const char*> tables() const;  // that there are
  std::string path(const std::string& file) const { return folder_ + "/" + file; }
  void remove_result();
  void open_exchanges(std::ios::openmode mode);
  void flush();

  std::string folder_;
  bool writes_;
  std::optional<CsvWriter> metrics_, step_times_;
  std::optional<CsvWriter> bits_, changed_;  // from the first row on
  std::ofstream exchanges_, discarded_;
};

}  // namespace longhaul
