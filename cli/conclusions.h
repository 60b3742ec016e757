// What a run came to, in sentences for the terminal.
#pragma once

#include <string>

namespace longhaul {

// Of a run directory, in lines that fit into so many columns; nothing where it has no case. What cannot be
// read of the cases is in the report.
void print_conclusions(const std::string& folder, int columns);

}  // namespace longhaul
