// How well a loss is known that was measured on a sample of the held-out text.
#pragma once

#include <string>
#include <vector>

#include "core/options.h"

namespace longhaul {

// A sentence for under a table of losses, from the case records: over how many windows they are means, and
// their standard error as estimates of the loss on the whole held-out part, lowest to highest. Empty where no
// record has one.
std::string sampling_note(const std::vector<Json>& records);

}  // namespace longhaul
