// Whether a training can continue from a checkpoint with the same bytes: its text, its journal, and all that
// turns the same arithmetic into other bits.
#pragma once

#include <string>

#include "core/base/json.h"

namespace longhaul {

// What of a training has to be as it was: {corpus_hash, device, arithmetic, libraries, journal}, on a card
// {sequences_at_once}.
// Throws InputError with the first of them that is another in `checkpoint`. Of one that lacks a key it is not
// known; it passes. `folder`: of the training.
void check_same_run(const Json& now, const Json& checkpoint, const std::string& folder);

}  // namespace longhaul
