#include "trainer/checkpoint/safetensors.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/errors.h"
#include "core/options.h"

namespace longhaul {
namespace {

// Bytes of one element, 0 for a type that this format does not have.
std::int64_t element_bytes(const std::string& dtype) {
  if (dtype == "F64" || dtype == "I64" || dtype == "U64") return 8;
  if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 4;
  if (dtype == "F16" || dtype == "BF16" || dtype == "I16" || dtype == "U16") return 2;
  return dtype == "I8" || dtype == "U8" || dtype == "BOOL" ? 1 : 0;
}

[[noreturn]] void damaged(const std::string& file, const std::string& found) {
  throw InputError({file, "", found, "a whole safetensors file", ""});
}

StoredTensor tensor_of(const Json& entry, const std::string& name, const std::string& file,
                       const std::string& text, std::size_t data) {
  StoredTensor tensor{entry.at("dtype"), entry.at("shape"), ""};
  const auto offsets = entry.at("data_offsets").get<std::vector<std::size_t>>();
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > text.size() - data)
    damaged(file, "\"" + name + "\" ends beyond the end of the file");
  tensor.bytes = text.substr(data + offsets[0], offsets[1] - offsets[0]);
  if (element_bytes(tensor.dtype) * tensor.elements() != static_cast<std::int64_t>(tensor.bytes.size()))
    damaged(file, "\"" + name + "\" has " + std::to_string(tensor.bytes.size()) +
                      " bytes, which is not its shape times its type");
  return tensor;
}

}  // namespace

std::int64_t StoredTensor::elements() const {
  std::int64_t count = 1;
  for (std::int64_t size : shape) count *= size;
  return count;
}

StoredTensor store(const std::vector<float>& values, std::vector<std::int64_t> shape) {
  return {"F32", std::move(shape),
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float))};
}

StoredTensors read_safetensors(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError({file, "", "cannot be read", "a safetensors file", ""});
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::uint64_t length = 0;
  if (text.size() < sizeof length) damaged(file, "is shorter than the length of its header");
  std::memcpy(&length, text.data(), sizeof length);
  if (length > text.size() - sizeof length) damaged(file, "ends within its header");
  StoredTensors tensors;
  try {
    const std::size_t data = sizeof length + length;
    const Json header = Json::parse(text.substr(sizeof length, length));
    for (const auto& [name, entry] : header.items())
      if (name != "__metadata__") tensors[name] = tensor_of(entry, name, file, text, data);
  } catch (const Json::exception& error) {
    damaged(file, std::string("has a header that is none: ") + error.what());
  }
  return tensors;
}

void write_safetensors(const std::string& file, const StoredTensors& tensors) {
  Json header = Json::object();
  std::size_t end = 0;
  for (const auto& [name, tensor] : tensors) {
    header[name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {end, end + tensor.bytes.size()}}};
    end += tensor.bytes.size();
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // so that the data is aligned
  const std::uint64_t length = text.size();
  const std::string temporary = file + ".tmp";
  std::ofstream out(temporary, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), sizeof length) << text;
  for (const auto& [name, tensor] : tensors) out << tensor.bytes;
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(temporary, file, error);
  if (!out || error) throw RunError(file + ": cannot be written (is the disk full?)");
}

}  // namespace longhaul
