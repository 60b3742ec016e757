// What the readers of JSON lines (trace and schedule) share.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/json.h"

namespace longhaul {

// The error, said of a line: "FILE: line 3, rule: found 7; ...". `allowed` where it does not say.
InputError of_line(const InputError& error, const std::string& file, int line, const std::string& allowed);

// json.at(key), an integer. Throws InputError with the key.
std::int64_t number_at(const Json& json, const char* key);

// `found`, which is in this range. Throws InputError of `path`.
std::int64_t in_range(const std::string& path, std::int64_t found, std::int64_t least, std::int64_t most);

}  // namespace longhaul
