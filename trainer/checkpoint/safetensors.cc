#include "trainer/checkpoint/safetensors.h"

#include <cstring>
#include <filesystem>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/options.h"
#include "trainer/checkpoint/durable_file.h"

namespace longhaul {
namespace {

constexpr char kMetadata[] = "__metadata__";

// Bytes of one element, 0 for a type that this format does not have.
std::int64_t element_bytes(const std::string& dtype) {
  if (dtype == "F64" || dtype == "I64" || dtype == "U64") return 8;
  if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 4;
  if (dtype == "F16" || dtype == "BF16" || dtype == "I16" || dtype == "U16") return 2;
  return dtype == "I8" || dtype == "U8" || dtype == "BOOL" ? 1 : 0;
}

std::int64_t element_count(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (std::int64_t size : shape) count *= size;
  return count;
}

// Whether elements of `each` bytes in this shape are `bytes`, whatever a file says of both.
bool has_bytes(const std::vector<std::int64_t>& shape, std::int64_t each, std::int64_t bytes) {
  std::int64_t sum = each;
  for (const std::int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(sum, size, &sum)) return false;
  return each > 0 && sum == bytes;
}

[[noreturn]] void damaged(const std::string& file, const std::string& found) {
  throw InputError({file, "", found, "a whole safetensors file", ""});
}

// What is wrong inside the header, with its place there.
InputError in_header(const InputError& error, const std::string& file) {
  InputErrorParts parts = error.parts();
  parts.file = file;
  parts.path = parts.path.empty() ? "header" : "header, " + parts.path;
  return InputError(parts);
}

SafetensorsFile::Entry entry_of(const Json& json, const std::string& name, const std::string& file,
                                std::uint64_t data, std::uint64_t end) {
  const auto offsets = json.at("data_offsets").get<std::vector<std::uint64_t>>();
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > end - data)
    damaged(file, "\"" + name + "\" ends beyond the end of the file");
  SafetensorsFile::Entry entry{json.at("dtype"), json.at("shape"),
                               static_cast<std::int64_t>(data + offsets[0]),
                               static_cast<std::int64_t>(offsets[1] - offsets[0])};
  if (!has_bytes(entry.shape, element_bytes(entry.dtype), entry.bytes))
    damaged(file, "\"" + name + "\" has " + std::to_string(entry.bytes) +
                      " bytes, which is not its shape times its type");
  return entry;
}

std::string header_of(const std::vector<TensorView>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  std::int64_t end = 0;
  for (const TensorView& tensor : tensors) {
    header[tensor.name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {end, end + tensor.bytes()}}};
    end += tensor.bytes();
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // so that the data is aligned
  return text;
}

}  // namespace

std::int64_t TensorView::bytes() const {
  return element_bytes(dtype) * element_count(shape);
}

void TensorView::read(const ByteSink& sink) const {
  if (data)
    sink(data, as_index(bytes()));
  else
    pieces(sink);
}

SafetensorsFile::SafetensorsFile(const std::string& file) : file_(file), in_(file, std::ios::binary) {
  std::error_code error;
  const std::uint64_t end = std::filesystem::file_size(file, error);
  if (!in_ || error) throw InputError({file, "", "cannot be read", "a safetensors file", ""});
  std::uint64_t length = 0;
  if (!in_.read(reinterpret_cast<char*>(&length), sizeof length))
    damaged(file, "is shorter than the length of its header");
  if (length > end - sizeof length) damaged(file, "ends within its header");
  std::string text(length, '\0');
  if (!in_.read(text.data(), static_cast<std::streamsize>(length))) damaged(file, "ends within its header");
  try {
    const Json header = parse_json(text);
    if (!header.is_object()) damaged(file, "has a header that is " + kind_of(header));
    for (const auto& [name, json] : header.items())
      if (name != kMetadata) entries_[name] = entry_of(json, name, file, sizeof length + length, end);
  } catch (const Json::exception& unread) {
    throw in_header(in_our_words(unread), file);
  } catch (const InputError& refused) {
    throw refused.parts().file.empty() ? in_header(refused, file) : refused;
  }
}

const SafetensorsFile::Entry& SafetensorsFile::entry(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) damaged(file_, "has no tensor \"" + name + "\"");
  return found->second;
}

void SafetensorsFile::read(const Entry& entry, std::int64_t from, std::int64_t count, void* out) {
  in_.seekg(entry.offset + from);
  if (!in_.read(static_cast<char*>(out), count)) damaged(file_, "cannot be read to its end");
}

std::int64_t StoredTensor::elements() const {
  return element_count(shape);
}

StoredTensor store(const std::vector<float>& values, std::vector<std::int64_t> shape) {
  return {"F32", std::move(shape),
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float))};
}

StoredTensors read_safetensors(const std::string& file) {
  SafetensorsFile in(file);
  StoredTensors tensors;
  for (const auto& [name, entry] : in.entries()) {
    StoredTensor& tensor = tensors[name] = {entry.dtype, entry.shape, ""};
    tensor.bytes.resize(as_index(entry.bytes));
    in.read(entry, 0, entry.bytes, tensor.bytes.data());
  }
  return tensors;
}

void write_safetensors(const std::string& file, const std::vector<TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string header = header_of(tensors, metadata);
  const std::uint64_t length = header.size();
  DurableFile out(file);
  out.write(&length, sizeof length);
  out.write(header.data(), header.size());
  for (const TensorView& tensor : tensors)
    tensor.read([&](const void* data, std::size_t bytes) { out.write(data, bytes); });
  out.commit();
}

void write_safetensors(const std::string& file, const StoredTensors& tensors) {
  std::vector<TensorView> views;
  for (const auto& [name, tensor] : tensors)
    views.push_back({name, tensor.dtype, tensor.shape, tensor.bytes.data()});
  write_safetensors(file, views);
}

}  // namespace longhaul
