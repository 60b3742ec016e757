// Text from outside (file names, labels, what a child or a user's code says) on its way to a terminal, which
// takes control characters for orders.
#pragma once

#include <cstdio>
#include <string>

namespace longhaul {

// Control characters (C0 but newline and tab, DEL, and C1 in UTF-8) become \xNN; all else is as it was.
std::string printable(const std::string& text);

// Writes printable(text).
void say(std::FILE* to, const std::string& text);

}  // namespace longhaul
