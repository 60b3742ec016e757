#include "trainer/training_files.h"

#include <fmt/core.h>

#include <filesystem>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/index.h"
#include "trainer/checkpoint/durable_file.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

constexpr char kMetrics[] = "metrics.csv", kStepTimes[] = "step_times.csv", kExchanges[] = "exchanges.jsonl",
               kBits[] = "boundary_bits.csv", kChanged[] = "changed_values.csv";

}  // namespace

TrainingFiles::TrainingFiles(std::string folder, bool writes) : folder_(std::move(folder)), writes_(writes) {
  if (!writes_) discarded_.open("/dev/null");
}

void TrainingFiles::begin() {
  if (!writes_) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  remove_result();
  metrics_.emplace(path(kMetrics), std::vector<std::string>{"step", "phase", "replica", "loss",
                                                            "loss_of_mean", "weight_spread"});
  step_times_.emplace(path(kStepTimes), std::vector<std::string>{"step", "replica", "compute_s"});
  open_exchanges(std::ios::out);
}

void TrainingFiles::continue_from(const Json& sizes) {
  if (!writes_) return;
  remove_result();
  for (const auto& [file, bytes] : sizes.items()) {
    std::error_code error;
    fs::resize_file(path(file), bytes.get<std::uintmax_t>(), error);
    if (error) throw RunError(path(file) + ": cannot be cut: " + error.message());
  }
  metrics_.emplace(path(kMetrics));
  step_times_.emplace(path(kStepTimes));
  if (sizes.contains(kBits)) bits_.emplace(path(kBits));
  if (sizes.contains(kChanged)) changed_.emplace(path(kChanged));
  open_exchanges(std::ios::app);
}

Json TrainingFiles::save() {
  if (!writes_) return {};
  flush();
  Json sizes = Json::object();
  for (const char* file : tables()) {
    force_to_disk(path(file));
    std::error_code error;
    sizes[file] = fs::file_size(path(file), error);
    if (error) throw RunError(path(file) + ": cannot be written: " + error.message());
  }
  return sizes;
}

std::vector<const char*> TrainingFiles::tables() const {
  std::vector<const char*> files = {kMetrics, kStepTimes, kExchanges};
  if (bits_) files.push_back(kBits);
  if (changed_) files.push_back(kChanged);
  return files;
}

// A folder that says it is done while it is being written would be believed.
void TrainingFiles::remove_result() {
  std::error_code error;
  for (const char* file : {"done", "training.json", "speed.json"}) fs::remove(path(file), error);
}

void TrainingFiles::open_exchanges(std::ios::openmode mode) {
  exchanges_.open(path(kExchanges), mode);
  if (!exchanges_) throw unwritable(path(kExchanges));
}

void TrainingFiles::write(const Evaluation& evaluation) {
  if (!writes_) return;
  for (std::size_t r = 0; r < evaluation.losses.size(); ++r) {
    metrics_->cell(evaluation.step)
        .cell(evaluation.phase)
        .cell(evaluation.replicas[r])
        .cell(evaluation.losses[r]);
    metrics_->cell("").cell("").end_row();
  }
  metrics_->cell(evaluation.step).cell(evaluation.phase).cell("mean").cell(evaluation.mean_loss());
  metrics_->cell(evaluation.loss_of_mean).cell(evaluation.weight_spread).end_row();
  flush();
}

// As many digits whatever the time: checkpoints say how long the table is, and have the same bytes in every
// run.
void TrainingFiles::write_step_times(int step, const std::vector<int>& replicas,
                                     const std::vector<double>& seconds) {
  if (!writes_) return;
  for (const int replica : replicas)
    step_times_->cell(step).cell(replica).cell(fmt::format("{:.9e}", seconds[as_index(replica)])).end_row();
}

void TrainingFiles::write_bits(int step, int replica, int hop, int bits, double gate) {
  if (!writes_) return;
  if (!bits_) bits_.emplace(path(kBits), std::vector<std::string>{"step", "replica", "hop", "bits", "gate"});
  bits_->cell(step).cell(replica).cell(hop).cell(bits).cell(gate).end_row();
}

void TrainingFiles::write_changed(int step, int replica, const std::string& part, double in_step,
                                  double since_row) {
  if (!writes_) return;
  if (!changed_)
    changed_.emplace(path(kChanged),
                     std::vector<std::string>{"step", "replica", "part", "share", "share_since_row"});
  changed_->cell(step).cell(replica).cell(part).cell(in_step).cell(since_row).end_row();
}

void TrainingFiles::write_speed(const Json& speed) {
  if (writes_) write_durably(path("speed.json"), speed.dump(2) + "\n");
}

void TrainingFiles::finish(const Json& training) {
  if (!writes_) return;
  flush();
  write_durably(path("training.json"), training.dump(2) + "\n");
  write_durably(path("done"), "");
}

void TrainingFiles::flush() {
  metrics_->flush();
  step_times_->flush();
  if (bits_) bits_->flush();
  if (changed_) changed_->flush();
  if (!exchanges_.flush()) throw unwritable(path(kExchanges));
}

}  // namespace longhaul
