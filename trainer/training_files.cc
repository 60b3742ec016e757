#include "trainer/training_files.h"

#include <filesystem>

#include "core/errors.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

// A folder that says it is done while it is being written would be believed. Runs before the files are
// opened.
std::string begun_anew(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  for (const char* file : {"done", "training.json"}) fs::remove(fs::path(folder) / file, error);
  return folder;
}

void write_whole(const std::string& file, const std::string& text) {
  const std::string temporary = file + ".tmp";
  std::ofstream out(temporary);
  out << text;
  out.close();
  std::error_code error;
  if (out) fs::rename(temporary, file, error);
  if (!out || error) throw RunError(file + ": cannot be written (is the disk full?)");
}

}  // namespace

TrainingFiles::TrainingFiles(const std::string& folder)
    : folder_(begun_anew(folder)),
      metrics_(folder + "/metrics.csv",
               {"step", "phase", "replica", "loss", "loss_of_mean", "weight_spread"}),
      step_times_(folder + "/step_times.csv", {"step", "replica", "compute_s"}),
      exchanges_(folder + "/exchanges.jsonl") {
  if (!exchanges_) throw RunError(folder + "/exchanges.jsonl: cannot be written");
}

void TrainingFiles::write(const Evaluation& evaluation) {
  for (std::size_t r = 0; r < evaluation.losses.size(); ++r) {
    metrics_.cell(evaluation.step)
        .cell(evaluation.phase)
        .cell(static_cast<int>(r))
        .cell(evaluation.losses[r]);
    metrics_.cell("").cell("").end_row();
  }
  metrics_.cell(evaluation.step).cell(evaluation.phase).cell("mean").cell(evaluation.mean_loss());
  metrics_.cell(evaluation.loss_of_mean).cell(evaluation.weight_spread).end_row();
  flush();
}

void TrainingFiles::write_step_times(int step, const std::vector<double>& seconds) {
  for (std::size_t r = 0; r < seconds.size(); ++r)
    step_times_.cell(step).cell(static_cast<int>(r)).cell(seconds[r]).end_row();
}

void TrainingFiles::finish(const Json& training) {
  flush();
  write_whole(folder_ + "/training.json", training.dump(2) + "\n");
  write_whole(folder_ + "/done", "");
}

void TrainingFiles::flush() {
  metrics_.flush();
  step_times_.flush();
  if (!exchanges_.flush())
    throw RunError(folder_ + "/exchanges.jsonl: cannot be written (is the disk full?)");
}

}  // namespace longhaul
