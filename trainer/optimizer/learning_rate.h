// The inner learning rate: linear warm-up, then a cosine to min_lr at the last step (NoLoCo, section 4: to
// lr/10).
#pragma once

#include "core/case.h"

namespace longhaul {

// Of step 1 … steps: lr·step/warmup up to step `warmup`, then min_lr + (lr − min_lr)(1 + cos πx)/2 with
// x = (step − warmup)/(steps − warmup).
double learning_rate(const OptimizerSpec& spec, int step, int steps);

}  // namespace longhaul
