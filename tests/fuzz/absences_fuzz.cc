// Who was gone: evictions from a file.
#include "replay/work/absence_trace.h"
#include "tests/fuzz/fuzz.h"

void longhaul::read_input(const std::string& input) {
  for (const auto& [replica, windows] : parse_absences(input, "evictions.csv", 4)) {
    if (replica < 0 || replica >= 4) abort();
    std::int64_t last_ns = 0;
    for (const FaultWindows::Window& window : windows) {
      if (window.begin_ns < last_ns || window.end_ns <= window.begin_ns) abort();
      last_ns = window.end_ns;
    }
  }
}
