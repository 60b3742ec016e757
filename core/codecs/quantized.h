// Columns in blocks of so many, the last one maybe shorter, of quantized numbers.
#pragma once

#include <variant>

#include "core/codecs/numbers.h"

namespace longhaul {

// At 1024, what readers take at a time (trainer/codecs/message.h), a scale adds 0.03 bits a column, and an
// outlier spoils no more than its block.
struct Quantized {
  static constexpr const char *kOption = "quantized", *kKey = "quantizer";
  static constexpr bool kAddsUp = true, kChooses = false;

  Quantizer numbers = Quantizer::kInt8;
  int block = 1024;

  static Node option() {
    return section(kOption,
                   {choice("numbers", words_of<Quantizer>()).required().means("the format of a number"),
                    integer("block").at_least(1).by_default(1024).in("columns").means(
                        "columns that share a scale")})
        .means("all columns, in blocks");
  }
  static Quantized from_option(const Json& given, const CodecColumns&) {
    return {from_word<Quantizer>(given.at("numbers"), "method.codec.quantized.numbers"), given.at("block")};
  }
  static Quantized from_json(const Json& json) {
    return {Numbers::from_json(json).quantizer, codec_count(json, "block")};
  }
  Json json() const { return {{kKey, word_of(numbers)}, {"block", block}}; }
  std::string words() const { return word_of(numbers) + (" in blocks of " + std::to_string(block)); }
  std::int64_t bytes(std::int64_t columns) const {
    return bytes_in_pieces(columns, block, [&](std::int64_t count) { return Numbers(numbers).bytes(count); });
  }
};

// Of a row of numbers inside another format: each on its own, or in blocks, of 1024 where an option says so.
using RowNumbers = std::variant<Wire, Quantized>;

inline RowNumbers row_from_option(const Json& word, Wire wire) {
  const Numbers numbers = Numbers::from_option(word, wire);
  return numbers.is_quantized ? RowNumbers(Quantized{numbers.quantizer}) : numbers.wire;
}

inline RowNumbers row_from_json(const Json& json) {
  const Numbers numbers = Numbers::from_json(json);
  return numbers.is_quantized ? RowNumbers(Quantized::from_json(json)) : numbers.wire;
}

inline Json json_of(const RowNumbers& row) {
  if (const auto* quantized = std::get_if<Quantized>(&row)) return quantized->json();
  return {{"numbers", word_of(std::get<Wire>(row))}};
}

inline std::string words_of(const RowNumbers& row) {
  const auto* quantized = std::get_if<Quantized>(&row);
  return quantized ? quantized->words() : word_of(std::get<Wire>(row));
}

inline std::int64_t bytes_of(const RowNumbers& row, std::int64_t columns) {
  const auto* quantized = std::get_if<Quantized>(&row);
  return quantized ? quantized->bytes(columns) : columns * bytes_per_parameter(std::get<Wire>(row));
}

}  // namespace longhaul
