// What the small programs of scripts/first_card.sh share: usage, messages, exit statuses.
#pragma once

#include <cstdio>
#include <exception>
#include <string>

namespace longhaul {

// Does `work` where the program was given `count` arguments, which `arguments` names. Returns the exit
// status: 2 for another number of them, 1 for an exception, with a line on stderr.
template <typename Work>
int tool_main(int argc, const std::string& name, const std::string& arguments, int count, const Work& work) {
  if (argc != count + 1) {
    std::fprintf(stderr, "usage: %s %s\n", name.c_str(), arguments.c_str());
    return 2;
  }
  try {
    work();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
    return 1;
  }
}

}  // namespace longhaul
