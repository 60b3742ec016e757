// Fragments: parts of the model that are synchronized at different steps (Streaming DiLoCo, arXiv 2501.18512,
// section 2.1).
#pragma once

#include <vector>

#include "methods/common/method.h"

namespace longhaul {

// `count` parts, 1 to as many as there are layers: layer l is in part l mod count (the paper's strided
// pattern), what comes before the first layer in the first part, what comes after the last layer in the last.
// Where the layers are not known, equal parts of the columns in their order.
std::vector<Columns> fragments(const PlannedModel& model, int count);

}  // namespace longhaul
