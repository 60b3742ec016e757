#include "core/codec.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/errors.h"

namespace longhaul {

Wire parse_wire(const std::string& text) {
  if (text == "fp32") return Wire::kFp32;
  if (text == "bf16") return Wire::kBf16;
  if (text == "fp16") return Wire::kFp16;
  return Wire::kInt8;
}

std::string to_string(Wire wire) {
  const char* names[] = {"fp32", "bf16", "fp16", "int8"};
  return names[static_cast<int>(wire)];
}

int bytes_per_parameter(Wire wire) {
  return wire == Wire::kFp32 ? 4 : wire == Wire::kInt8 ? 1 : 2;
}

int place_bits(const TopK& codec) {
  int bits = 0;
  while ((std::int64_t{1} << bits) < codec.chunk) ++bits;
  return bits;
}

std::int64_t chunk_bytes(const TopK& codec, std::int64_t columns) {
  const std::int64_t kept = std::min<std::int64_t>(codec.kept, columns);
  return kept * bytes_per_parameter(codec.values) + (kept * place_bits(codec) + 7) / 8;
}

std::int64_t encoded_bytes(const Codec& codec, std::int64_t columns) {
  if (const Wire* wire = std::get_if<Wire>(&codec.format)) return columns * bytes_per_parameter(*wire);
  const TopK& top = std::get<TopK>(codec.format);
  return columns / top.chunk * chunk_bytes(top, top.chunk) + chunk_bytes(top, columns % top.chunk);
}

std::string to_string(const Codec& codec) {
  const std::string feedback = codec.feeds_back ? ", error feedback" : "";
  if (const Wire* wire = std::get_if<Wire>(&codec.format)) return to_string(*wire) + feedback;
  const TopK& top = std::get<TopK>(codec.format);
  return fmt::format("top-k {} of {}, {}{}", top.kept, top.chunk, to_string(top.values), feedback);
}

Json to_json(const Codec& codec) {
  Json json;
  if (const Wire* wire = std::get_if<Wire>(&codec.format)) {
    json = {{"numbers", to_string(*wire)}};
  } else {
    const TopK& top = std::get<TopK>(codec.format);
    json = {{"top_k", top.kept}, {"chunk", top.chunk}, {"numbers", to_string(top.values)}};
  }
  if (codec.feeds_back) json["error_feedback"] = true;
  return json;
}

Codec codec_from(const Json& json) {
  Codec codec;
  const std::string numbers = json.at("numbers");
  const Wire wire = parse_wire(numbers);
  if (to_string(wire) != numbers)
    throw InputError("codec.numbers", fmt::format("found \"{}\"", numbers), "fp32, bf16, fp16 or int8");
  codec.format = wire;
  if (json.contains("top_k")) {
    const TopK top{json.at("chunk"), json["top_k"], wire};
    if (top.kept < 1 || top.kept > top.chunk)
      throw InputError("codec.top_k",
                       fmt::format("found {} of {}", json["top_k"].dump(), json["chunk"].dump()),
                       "at least 1 and at most all of a chunk");
    codec.format = top;
  }
  codec.feeds_back = json.value("error_feedback", false);
  return codec;
}

}  // namespace longhaul
