// Which rank stands where, in words.
#pragma once

#include <string>

#include "core/scenario/case.h"

namespace longhaul {

// "Oslo: 0-3, 5; Bergen: 4".
std::string placement_in_words(const Case& config);

}  // namespace longhaul
