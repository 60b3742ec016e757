// What several parts of the analysis ask of a case's folder.
#pragma once

#include <string>

#include "core/options.h"

namespace longhaul {

// A JSON file; null where it does not exist or is damaged.
Json read_json_or_null(const std::string& file);

}  // namespace longhaul
