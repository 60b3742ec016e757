// The mean of reduction.h, with the rows in which servers keep what their rounding left out.
#pragma once

#include <vector>

#include "trainer/codecs/reduction.h"
#include "trainer/replicas/arena.h"

namespace longhaul {

// Of these columns of the model. Servers' errors are known to all members alike: each row of them is read and
// written, so that any number of processes has the bytes of one.
std::vector<float> rounded_mean(const Columns& columns, const Codec& codec, int members, Arena& arena,
                                const ContributionsOf& contributions);

}  // namespace longhaul
