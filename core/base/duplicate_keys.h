// Keys that stand twice in one object: JSON readers take the last one without a word, so that the line which
// a user has changed may be the one that does not count.
#pragma once

#include <string_view>

namespace longhaul {

// `text` is JSON that parse_json() has read; comments are passed over. Throws InputError at the first key
// that its object already has, with the path of the second.
void check_no_duplicate_keys(std::string_view text);

}  // namespace longhaul
