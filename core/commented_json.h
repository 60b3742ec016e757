// JSON for people: a // comment above each key, from the declaration of the options.
#pragma once

#include <string>

#include "core/options.h"

namespace longhaul {

// `value` indented by two, small objects and lists on one line. A key that `declaration` describes, or an
// element of a tagged list (a method), has its meaning above it, wrapped at 110 characters. Valid JSON but
// for comments, which a scenario may have.
std::string commented_json(const Node& declaration, const Json& value);

}  // namespace longhaul
