// libFuzzer's way into a target.
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  longhaul::take(longhaul::text_of_input(data, size));
  return 0;
}
