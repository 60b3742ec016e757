// Methods whose outer gradients may be a round late: their plan, and for which outer learning rates it does
// not swing up.
#pragma once

#include <string>
#include <vector>

#include "methods/common/compression.h"

namespace longhaul {

// With `compression_options`, `all_reduce` and `reduction` behind a method's own.
std::vector<Node> with_outer_all_reduce(std::vector<Node> options, const CompressionDefaults& defaults = {});

// An all-reduce of Δ every H steps. Late, it overlaps with the next round: at step H nothing has arrived yet,
// and the local step "first" stands in for the outer step.
OperationPlan outer_plan(const Json& options, const PlannedModel& model, bool is_late);

// The outer learning rates below it keep the mean of a method with late outer gradients stable where the
// inner steps of a round undo a displacement of φ wholly (Δ = −φ around the optimum). Of a share `fresh` of
// the mean is Δ of this round, of the rest of the round before:
//
//   Δ̃(t) = fresh · Δ̄(t) + (1 − fresh) Δ̄(t − 1);   v ← μ v + Δ̃;   φ ← φ + η (Δ̃ + μ v)
//
// The eigenvalues are the roots of z(z − 1)(z − μ) + η (fresh · z + 1 − fresh)((1 + μ) z − μ). Without
// momentum the bound is 1/(1 − fresh).
double late_outer_lr_bound(double momentum, double fresh);

// Likewise of heavy-ball momentum where all of Δ is late: v ← μ v + Δ̄(t − 1); φ ← φ + η v. The eigenvalues
// are the roots of z (z² − (1 + μ) z + μ + η), so the bound is 1 − μ.
double late_heavy_ball_lr_bound(double momentum);

// Of a case with outer_lr and outer_momentum: a warning where the rate is not below the bound.
std::vector<std::string> late_update_warnings(const Case& config, double fresh);
std::vector<std::string> late_update_warnings(const Case& config, double fresh, double bound);

}  // namespace longhaul
