// The safetensors format (huggingface.co/docs/safetensors, version 0.x): 8 bytes length of the header, little
// end first, then the header (JSON: name → dtype, shape, data_offsets; __metadata__ → texts), then the
// tensors without gaps, row-major, little end first.
#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace longhaul {

using ByteSink = std::function<void(const void* data, std::size_t bytes)>;

// A tensor to be written: it lies somewhere in memory, or comes in pieces.
struct TensorView {
  std::string name, dtype;  // dtype "F32", "I64", …
  std::vector<std::int64_t> shape;
  const void* data = nullptr;
  std::function<void(const ByteSink&)> pieces = {};  // where `data` is null: all its bytes in order, once

  std::int64_t bytes() const;
  void read(const ByteSink& sink) const;
};

// The tensors of a file that is open; nothing is read before it is asked for, so that a file larger than the
// memory can be looked into.
class SafetensorsFile {
 public:
  struct Entry {
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::int64_t offset = 0, bytes = 0;  // in the file
  };

  // Throws InputError that names the file and says what is damaged.
  explicit SafetensorsFile(const std::string& file);

  const std::map<std::string, Entry>& entries() const { return entries_; }
  const Entry& entry(const std::string& name) const;  // throws InputError where it is missing
  // `count` bytes of a tensor, from byte `from` of it on.
  void read(const Entry& entry, std::int64_t from, std::int64_t count, void* out);

 private:
  std::string file_;
  std::ifstream in_;
  std::map<std::string, Entry> entries_;
};

// A whole tensor in memory.
struct StoredTensor {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string bytes;

  std::int64_t elements() const;
};

using StoredTensors = std::map<std::string, StoredTensor>;

StoredTensor store(const std::vector<float>& values, std::vector<std::int64_t> shape);

// Throws InputError that names the file and says what is damaged.
StoredTensors read_safetensors(const std::string& file);
// Through DurableFile. Throws RunError.
void write_safetensors(const std::string& file, const std::vector<TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata = {});
void write_safetensors(const std::string& file, const StoredTensors& tensors);

}  // namespace longhaul
