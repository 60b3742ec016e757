// Tensors: each is inside the file, and has the bytes of its shape.
#include "tests/fuzz/fuzz.h"
#include "trainer/checkpoint/safetensors.h"

void longhaul::read_input(const std::string& input) {
  const std::string file = file_with("tensors.safetensors", input);
  SafetensorsFile tensors(file);
  for (const auto& [name, entry] : tensors.entries())
    if (entry.bytes < 0 || entry.offset < 8 ||
        static_cast<std::size_t>(entry.offset + entry.bytes) > input.size())
      abort();
  for (const auto& [name, tensor] : read_safetensors(file))
    if (tensor.elements() < 0) abort();
}
