// Cells of comma separated lines, which may stand in quotes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace longhaul::measured {

enum class Blanks { kKept, kSkipped };  // before a cell

// A row for each line, but that a quote which a line leaves open ends in a later one; "" in quotes is a
// quote.
std::vector<std::vector<std::string>> csv_rows(const std::vector<std::string_view>& lines,
                                               char delimiter = ',', Blanks blanks = Blanks::kKept);

}  // namespace longhaul::measured
