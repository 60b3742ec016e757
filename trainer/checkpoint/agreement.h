// What all ranks have to know alike before the first step.
#pragma once

#include <optional>

#include "trainer/checkpoint/checkpoint_folder.h"
#include "trainer/ranks/ranks.h"

namespace longhaul {

// `mine`: {what: value}, small. Throws InputError on every rank where a value is not that of rank 0, and
// says of which rank.
void check_agreement(Ranks& ranks, const Json& mine);

// Rank 0's checkpoint, without the path of its tensors, on the others.
void share_checkpoint(Ranks& ranks, std::optional<Checkpoint>& checkpoint);

}  // namespace longhaul
