// A double as text and back, as std::from_chars and std::to_chars have it (C++17, [charconv]): by these where
// the C++ library has them for double, else by functions that agree with them. libc++ 13, with which
// Emscripten 3.1.6 compiles the page of the planner, has neither.
#pragma once

#include <charconv>
#include <string>

namespace longhaul {

// The longest number that the text begins with; `value` is set where there is one that a double holds.
std::from_chars_result read_double(const char* begin, const char* end, double& value);

// The shortest text that reads back as the same, fixed or scientific; finite.
std::string shortest_text(double value);

// The same without them, which is tested beside them.
namespace portable {

std::from_chars_result read_double(const char* begin, const char* end, double& value);
std::string shortest_text(double value);

}  // namespace portable

}  // namespace longhaul
