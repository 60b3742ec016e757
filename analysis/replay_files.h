// What several parts of the analysis ask of a case's folder.
#pragma once

#include <set>
#include <string>

#include "core/options.h"

namespace longhaul {

// The names of the rules in trace.jsonl whose exchanges overlap with compute: their rows in exchanges.csv
// hold up nobody, so they are neither synchronization nor wait time. Empty without a trace.
std::set<std::string> overlapped_rules(const std::string& case_folder);

// A JSON file; null where it does not exist or is damaged.
Json read_json_or_null(const std::string& file);

}  // namespace longhaul
