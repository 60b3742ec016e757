// The main of a program run by hand: exit 2 for wrong arguments, 1 for a run that failed, with one message.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

namespace longhaul {

template <typename Program>
int bench_main(Program program) {
  try {
    program();
    return 0;
  } catch (const CLI::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace longhaul
