// Quantities with units: what is read is a number that its shortest text gives back.
#include <cmath>

#include "core/base/units.h"
#include "tests/fuzz/fuzz.h"

using namespace longhaul;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = text_of_input(data, size);
  for (const auto parse : {parse_rate, parse_duration, parse_bytes})
    allow_errors([&] {
      const double value = parse(text);
      if (std::isnan(value)) abort();
      if (std::isfinite(value) && parse_bytes(format_number(value) + "B") != value) abort();
      human_bytes(value), human_rate(value), human_duration(value);
    });
  return 0;
}
