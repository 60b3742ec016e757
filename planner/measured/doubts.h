// What a test of a connection may be too short for, and what a reader should know of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace longhaul::measured {

constexpr double kStillGrowing =
    1.25;  // the second half of a test over all of it, a size over the one before

// Throws InputError for a test of `seconds`, or of as few bytes as the option `how` allowed, which says
// nothing of what a connection carries.
void refuse_short(const std::string& file, std::optional<double> seconds, std::optional<double> bytes = {},
                  const std::string& how = "");

// The window of a connection grows for seconds on a long path. `is_by_amount`: -n or -k ended the test.
std::vector<std::string> short_note(const std::string& file, std::optional<double> seconds,
                                    bool is_by_amount = false);

}  // namespace longhaul::measured
