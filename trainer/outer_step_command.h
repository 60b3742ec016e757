// `longhaul-train outer-step`: one outer step of a method on tensors of the user's, so that anyone can hold
// our numerics against another implementation. It runs the code that a training runs.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

struct OuterStepArguments {
  std::string method, in, out, wire = "fp32";
  std::vector<std::string> assignments;  // "alpha=0.5": the method's own options
};

// Reads float32 `theta`, `phi`, `momentum` [R, P] and int64 `groups` [G, n] (disjoint; a row in no group
// stays as it is) and writes `theta`, `phi`, `momentum`. `momentum` is δ (NoLoCo, heavy-ball DiLoCo) or v
// (Nesterov DiLoCo). Throws InputError for anything else.
void run_outer_step(const OuterStepArguments& arguments);

}  // namespace longhaul
