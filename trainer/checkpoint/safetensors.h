// The safetensors format (huggingface.co/docs/safetensors, version 0.x): 8 bytes length of the header, little
// end first, then the header (JSON: name → dtype, shape, data_offsets), then the tensors without gaps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace longhaul {

struct StoredTensor {
  std::string dtype;  // "F32", "I64", …
  std::vector<std::int64_t> shape;
  std::string bytes;  // row-major, little end first

  std::int64_t elements() const;
};

using StoredTensors = std::map<std::string, StoredTensor>;

StoredTensor store(const std::vector<float>& values, std::vector<std::int64_t> shape);

// Throws InputError that names the file and says what is damaged.
StoredTensors read_safetensors(const std::string& file);
// Under a temporary name first, then renamed. Throws RunError.
void write_safetensors(const std::string& file, const StoredTensors& tensors);

}  // namespace longhaul
