// The checkpoints of one training, train/KEY/checkpoints/ (docs/formats.md): step-N.safetensors with the
// tensors and step-N.json with the rest. The JSON is renamed into place last, so a checkpoint that has one is
// whole; both carry hashes, so one that was damaged later is found out. The last two are kept.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "trainer/checkpoint/safetensors.h"
#include "trainer/ranks/ranks.h"

namespace longhaul {

struct Checkpoint {
  int step = 0;              // the steps that are done
  Json state;                // the JSON file
  std::string tensors_file;  // path
};

// One that is whole, from its JSON file: both hashes are compared. Throws InputError with what is wrong.
Checkpoint read_checkpoint(const std::string& json_file);

class CheckpointFolder {
 public:
  // `training_folder` is train/KEY; `training` its training_key.
  CheckpointFolder(const std::string& training_folder, std::string training);

  void clear();  // what an earlier training left
  // `state` gets the keys that every checkpoint has. Older ones than the one before are removed. Throws
  // RunError; what was there is still there then.
  void write(int step, Json state, const std::vector<TensorView>& tensors);
  // Keeps only the checkpoint of `step`.
  void keep_only(int step);

  // The newest that is whole, of this training, and whose tables are still as long as they were. For each
  // newer one a line in `refused` says why it is not taken.
  std::optional<Checkpoint> newest(std::vector<std::string>& refused) const;

 private:
  void check_belongs(const Checkpoint& checkpoint) const;
  std::string json_file(int step) const;
  std::string tensors_file(int step) const;

  std::string training_folder_, folder_, training_;
};

// The steps of the checkpoints in a folder, newest first.
std::vector<int> checkpoint_steps(const std::string& folder);

// Whether a training can continue from a checkpoint with the same bytes: its text, its journal, and all that
// turns the same arithmetic into other bits. What of it has to be as it was: {corpus_hash, device,
// arithmetic, libraries, journal}, on a card {sequences_at_once}. Throws InputError with the first of them
// that is another in `checkpoint`. Of one that lacks a key it is not known; it passes. `folder`: of the
// training.
void check_same_run(const Json& now, const Json& checkpoint, const std::string& folder);

// What all ranks have to know alike before the first step.

// `mine`: {what: value}, small. Throws InputError on every rank where a value is not that of rank 0, and
// says of which rank.
void check_agreement(Ranks& ranks, const Json& mine);

// Rank 0's checkpoint, without the path of its tensors, on the others.
void share_checkpoint(Ranks& ranks, std::optional<Checkpoint>& checkpoint);

}  // namespace longhaul
