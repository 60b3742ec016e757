// What gzip has compressed.
#pragma once

#include <string>
#include <string_view>

namespace longhaul {

bool is_gzip(std::string_view bytes);

// All members, one behind the other. Throws InputError, without a file, for what is damaged, was cut off, or
// is larger than kLargestJson (core/base/json.h).
std::string gunzip(std::string_view bytes);

}  // namespace longhaul
