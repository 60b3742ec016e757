// Text from outside (file names, labels, what a child or a user's code says) on its way to a terminal, which
// takes control characters for orders.
#pragma once

#include <cstdio>
#include <string>

namespace longhaul {

// Control characters (C0 but newline and tab, DEL, and C1) and bytes that are no UTF-8 become \xNN. What a
// reader does not see, or what turns the direction of the letters behind it, becomes \uNNNN: U+061C,
// U+200B, U+200E and U+200F, U+2028 to U+202E, U+2060 to U+206F, U+FEFF. All else is as it was.
std::string printable(const std::string& text);

// Writes printable(text).
void say(std::FILE* to, const std::string& text);

}  // namespace longhaul
