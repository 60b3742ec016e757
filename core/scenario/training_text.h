// What a training's text is known to be before it is read: which files, and how long each part is, from the
// files' sizes and the shards' headers alone. The same checks as in reading, before anything has started.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/scenario/case.h"

namespace longhaul {

// The files of all patterns, each sorted. Throws InputError, path PATH[i], for a pattern that matches
// nothing.
std::vector<std::string> files_of(const std::vector<std::string>& globs, const std::string& folder,
                                  const std::string& path);

// How many of `tokens` tokens are the held-out end of a text.
std::size_t held_out_tokens(std::size_t tokens, double fraction);

// Each part needs context + 1 tokens; `part` is "training" or "validation". Throws InputError.
void check_part_length(const char* part, std::size_t tokens, int context);

// Where each replica trains on a part of its own (TrainSpec::shards), of the training part. Throws
// InputError.
void check_own_parts(std::size_t tokens, const TrainSpec& train);

// Throws InputError where a synthetic source cannot have the vocabulary.
void check_synthetic(const TrainSpec& train);

// All of that for a case that trains, as methods' trained_case() has it, and broken shards. A corpus is not
// looked at: its files are found by the trainer. Nor is which tokens a shard holds.
void check_training_text(const Case& config);

}  // namespace longhaul
