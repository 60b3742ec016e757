// What is different in two JSON values, in words.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"

namespace longhaul {

// "replicas (8 there, 4 here)" for each path at which they differ, those of `here` first; "none" where one
// has nothing. Lists of as many objects are compared object by object, other lists as a whole.
std::vector<std::string> differences_in_words(const Json& there, const Json& here);

}  // namespace longhaul
