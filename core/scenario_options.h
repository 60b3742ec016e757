// Every option of a scenario, declared once. Methods bring their own options (methods/registry.h), so that a
// new method is declared where it is written.
#pragma once

#include <vector>

#include "core/options.h"

namespace longhaul {

// `methods`: one section a method, its key the method's name.
Node scenario_options(std::vector<Node> methods);

// The options that each method has besides its own.
std::vector<Node> common_method_options();

}  // namespace longhaul
