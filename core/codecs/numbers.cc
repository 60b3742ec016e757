#include "core/codecs/numbers.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "core/base/errors.h"
#include "core/base/limits.h"

namespace longhaul {

Quantizer whole_quantizer(int bits) {
  for (const QuantizerFacts& facts : Words<Quantizer>::all)
    if (facts.largest > 0 && facts.bits == bits) return facts.value;
  throw std::logic_error(fmt::format("no whole numbers of {} bits", bits));
}

int bytes_per_parameter(Wire wire) {
  return wire == Wire::kFp32 ? 4 : wire == Wire::kInt8 ? 1 : 2;
}

Node Numbers::option(const char* key, std::string fallback) {
  std::vector<std::string> names = words_of<Quantizer>();
  names.insert(names.begin(), "wire");
  return choice(key, names)
      .by_default(std::move(fallback))
      .means("how the values that are kept travel; wire: as workload.wire says");
}

Numbers Numbers::from_option(const Json& word, Wire wire) {
  if (word == "wire") return wire;
  return from_word<Quantizer>(word, "method.codec");
}

Numbers Numbers::from_json(const Json& json) {
  if (json.contains("numbers") == json.contains("quantizer"))
    throw InputError("codec", "found " + json.dump(), "one of \"numbers\" and \"quantizer\"");
  if (json.contains("quantizer")) return from_word<Quantizer>(plain(json["quantizer"]), "codec.quantizer");
  return from_word<Wire>(plain(json["numbers"]), "codec.numbers");
}

std::int64_t Numbers::bytes(std::int64_t count) const {
  if (!is_quantized) return count * bytes_per_parameter(wire);
  if (count == 0) return 0;
  const QuantizerFacts& facts = facts_of(quantizer);
  return facts.shared_bytes + (count * facts.bits + 7) / 8;
}

void refuse_codec(const std::string& key, const Json& found, const std::string& allowed) {
  throw InputError("codec." + key, "found " + found.dump(), allowed);
}

int codec_count(const Json& json, const std::string& key) {
  constexpr const char* kAllowed = "a whole number, at least 1";
  if (!json.contains(key)) throw InputError("codec." + key, "it is missing", kAllowed);
  const Json& value = json[key];
  if (!value.is_number_integer() || value < 1 || value > std::numeric_limits<int>::max())
    refuse_codec(key, value, kAllowed);
  return value;
}

std::vector<MatrixShape> codec_matrices(const Json& json) {
  constexpr const char* kAllowed = "a list of [rows, columns], each at least 1";
  std::vector<MatrixShape> matrices;
  const Json list = json.value("matrices", Json::array());
  if (!list.is_array()) refuse_codec("matrices", list, kAllowed);
  for (const Json& entry : list) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_number_integer() ||
        !entry[1].is_number_integer() || entry[0] < 1 || entry[1] < 1)
      refuse_codec("matrices", entry, kAllowed);
    matrices.push_back({entry[0], entry[1]});
    const MatrixShape& last = matrices.back();
    if (static_cast<double>(last.rows) * static_cast<double>(last.columns) >
        static_cast<double>(kMostParameters))
      refuse_codec("matrices", entry, fmt::format("at most {} numbers", kMostParameters));
  }
  return matrices;
}

Json json_of(const std::vector<MatrixShape>& matrices) {
  Json json = Json::array();
  for (const MatrixShape& matrix : matrices) json.push_back(Json::array({matrix.rows, matrix.columns}));
  return json;
}

std::int64_t largest_bytes(const Numbers& values, std::int64_t kept, std::int64_t count,
                           std::int64_t places) {
  kept = std::min(kept, count);
  return values.bytes(kept) + (kept * place_bits(places) + 7) / 8;
}

int place_bits(std::int64_t count) {
  int bits = 0;
  while ((std::int64_t{1} << bits) < count) ++bits;
  return bits;
}

std::string percent_words(double share) {
  return fmt::format("a random {:.6g} %", 100 * share);
}

void check_size(const std::vector<MatrixShape>& matrices, std::int64_t columns) {
  std::int64_t size = 0;
  for (const MatrixShape& matrix : matrices) size += matrix.rows * matrix.columns;
  if (size != columns)
    throw std::logic_error(
        fmt::format("a codec for matrices of {} columns and a payload of {}", size, columns));
}

}  // namespace longhaul
