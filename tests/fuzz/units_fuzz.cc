// Quantities with units: what is read is a number that its shortest text gives back.
#include <cmath>

#include "core/base/units.h"
#include "tests/fuzz/fuzz.h"

void longhaul::read_input(const std::string& input) {
  for (const auto parse : {parse_rate, parse_duration, parse_bytes})
    allow_errors([&] {
      const double value = parse(input);
      if (std::isnan(value)) abort();
      if (std::isfinite(value) && parse_bytes(format_number(value) + "B") != value) abort();
      human_bytes(value), human_rate(value), human_duration(value);
    });
}
