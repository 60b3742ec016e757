// Fragments that are synchronized in turn, as Streaming DiLoCo (arXiv 2501.18512) has them: what methods with
// such fragments share of options, plan and checks.
#pragma once

#include <string>
#include <vector>

#include "methods/common/method.h"

namespace longhaul {

struct FragmentDefaults {
  int inner_steps = 100, fragment_layers = 3, overlap = 5, least_overlap = 0;
};

// `inner_steps`, how the model is cut, `overlap`, `mixing`, the outer optimizer, and compression.
std::vector<Node> fragment_options(const FragmentDefaults& defaults);

// How many fragments a model of so many layers has; 0: it cannot be told.
int fragment_count(const Json& options, int layers);
FragmentPattern fragment_pattern(const Json& options);

// A rule for each fragment, which posts its Δ every `inner_steps` steps, at another step than the others.
std::vector<OperationRule> fragment_rules(const Json& options, const PlannedModel& model,
                                          bool embeddings_apart = false);

// Throws InputError.
void check_fragments(const Case& config);
// Whether the network carries other fragments than are trained, in words.
std::vector<std::string> fragment_warnings(const Case& config);

}  // namespace longhaul
