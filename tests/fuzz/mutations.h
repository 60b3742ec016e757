// Inputs that are near to right ones: one value of a JSON text, or one cell of a table, becomes another.
// Bytes that are turned at random are hardly ever JSON, and so never reach what is behind the parser.
#pragma once

#include <cstdint>
#include <string>

namespace longhaul {

// Of an input of several files (fuzz.h) one is changed, of JSON lines one line. The same for the same seed.
std::string mutated(const std::string& input, std::uint64_t seed);

}  // namespace longhaul
