// libFuzzer's way to change an input, where a target reads JSON or tables: half of the times one of ours.
#include <algorithm>
#include <cstring>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutations.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  if (seed % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string changed = longhaul::mutated(longhaul::text_of_input(data, size), seed);
  const std::size_t length = std::min(changed.size(), most);
  std::memcpy(data, changed.data(), length);
  return length;
}
