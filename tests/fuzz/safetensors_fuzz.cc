// Tensors: each is inside the file, and has the bytes of its shape.
#include "tests/fuzz/fuzz.h"
#include "trainer/checkpoint/safetensors.h"

using namespace longhaul;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string file = file_with("tensors.safetensors", text_of_input(data, size));
  return allow_errors([&] {
    SafetensorsFile tensors(file);
    for (const auto& [name, entry] : tensors.entries())
      if (entry.bytes < 0 || entry.offset < 8 || static_cast<std::size_t>(entry.offset + entry.bytes) > size)
        abort();
    for (const auto& [name, tensor] : read_safetensors(file))
      if (tensor.elements() < 0) abort();
  });
}
