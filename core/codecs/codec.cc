#include "core/codecs/codec.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "core/base/errors.h"
#include "core/base/limits.h"

namespace longhaul {
namespace {

// In the order of the enumeration.
struct QuantizerFacts {
  const char* name;
  int bits, shared;
};
constexpr QuantizerFacts kQuantizers[] = {{"int8", 8, 4},
                                          {"int4", 4, 4},
                                          {"e3m0", 4, 4},
                                          {"two_bit", 2, 8},
                                          {"sign", 1, 4},
                                          {"int7", 7, 4},
                                          {"int6", 6, 4},
                                          {"int5", 5, 4},
                                          {"int3", 3, 4},
                                          {"int2", 2, 4},
                                          {"two_bit_six_sigma", 2, 8}};

const QuantizerFacts& facts_of(Quantizer quantizer) {
  return kQuantizers[static_cast<int>(quantizer)];
}

// The sum over pieces of `piece` columns, and what is left after them.
template <typename Bytes>
std::int64_t bytes_in_pieces(std::int64_t columns, std::int64_t piece, const Bytes& bytes) {
  return columns / piece * bytes(piece) + bytes(columns % piece);
}

std::int64_t bytes_of(Wire wire, std::int64_t columns) {
  return columns * bytes_per_parameter(wire);
}

std::int64_t bytes_of(const Quantized& format, std::int64_t columns) {
  return bytes_in_pieces(columns, format.block,
                         [&](std::int64_t count) { return numbers_bytes(format.numbers, count); });
}

std::int64_t bytes_of(const TopK& format, std::int64_t columns) {
  return bytes_in_pieces(columns, format.chunk,
                         [&](std::int64_t count) { return chunk_bytes(format, count); });
}

std::int64_t bytes_of(const RandomMask& format, std::int64_t columns) {
  const std::int64_t drawn = drawn_columns(format, columns);
  return std::visit([&](const auto& row) { return bytes_of(row, drawn); }, format.numbers);
}

std::int64_t size_of(const std::vector<MatrixShape>& matrices) {
  std::int64_t size = 0;
  for (const MatrixShape& matrix : matrices) size += matrix.rows * matrix.columns;
  return size;
}

void check_size(const std::vector<MatrixShape>& matrices, std::int64_t columns) {
  if (size_of(matrices) != columns)
    throw std::logic_error(
        fmt::format("a codec for matrices of {} columns and a payload of {}", size_of(matrices), columns));
}

std::int64_t bytes_of(const DctTopK& format, std::int64_t columns) {
  std::int64_t bytes = 0;
  for (const TileGrid& grid : tile_grids(format, columns)) bytes += grid.count() * tile_bytes(format, grid);
  return bytes;
}

std::int64_t bytes_of(const LowRank& format, std::int64_t columns) {
  check_size(format.matrices, columns);
  std::int64_t bytes = 0;
  for (const MatrixShape& matrix : format.matrices) bytes += matrix_bytes(format, matrix);
  return bytes;
}

std::int64_t largest_divisor(std::int64_t number, std::int64_t most) {
  std::int64_t divisor = std::min(number, most);
  while (number % divisor != 0) --divisor;
  return divisor;
}

std::string words_of(Wire wire) {
  return to_string(wire);
}

std::string words_of(const Quantized& format) {
  return fmt::format("{} in blocks of {}", to_string(format.numbers), format.block);
}

std::string words_of(const TopK& format) {
  return fmt::format("top-k {} of {}, {}", format.kept, format.chunk, to_string(format.values));
}

std::string words_of(const DctTopK& format) {
  return fmt::format("DCT top-k {} of tiles {} × {}, {}", format.kept, format.tile, format.tile,
                     to_string(format.values));
}

std::string words_of(const LowRank& format) {
  const std::string factors = std::visit([](const auto& item) { return words_of(item); }, format.factors);
  const std::string times = format.iterations == 1 ? "" : fmt::format(" by {} iterations", format.iterations);
  return fmt::format("rank {}{}, {}, {} where plain", format.rank, times, factors, to_string(format.plain));
}

std::string words_of(const RandomMask& format) {
  const std::string numbers = std::visit([](const auto& item) { return words_of(item); }, format.numbers);
  return fmt::format("a random {} % of the columns, {}", 100 * format.share, numbers);
}

void add_to(Json& json, const Numbers& numbers) {
  json[numbers.is_quantized ? "quantizer" : "numbers"] = to_string(numbers);
}

Json json_of(Wire wire) {
  Json json;
  add_to(json, wire);
  return json;
}

Json json_of(const Quantized& format) {
  Json json;
  add_to(json, format.numbers);
  json["block"] = format.block;
  return json;
}

Json json_of(const TopK& format) {
  Json json = {{"top_k", format.kept}, {"chunk", format.chunk}};
  add_to(json, format.values);
  return json;
}

Json json_of(const std::vector<MatrixShape>& matrices) {
  Json json = Json::array();
  for (const MatrixShape& matrix : matrices) json.push_back(Json::array({matrix.rows, matrix.columns}));
  return json;
}

Json json_of(const DctTopK& format) {
  Json json = {{"top_k", format.kept}, {"tile", format.tile}};
  add_to(json, format.values);
  if (!format.matrices.empty()) json["matrices"] = json_of(format.matrices);
  return json;
}

Json json_of(const LowRank& format) {
  Json json = {{"rank", format.rank}, {"iterations", format.iterations}};
  const Json factors = std::visit([](const auto& item) { return json_of(item); }, format.factors);
  json.update(factors);
  json["plain"] = to_string(format.plain);
  json["matrices"] = json_of(format.matrices);
  return json;
}

Json json_of(const RandomMask& format) {
  Json json = std::visit([](const auto& item) { return json_of(item); }, format.numbers);
  json["share"] = format.share;
  return json;
}

[[noreturn]] void refuse(const std::string& key, const Json& found, const std::string& allowed) {
  throw InputError("codec." + key, "found " + found.dump(), allowed);
}

int count_in(const Json& json, const std::string& key) {
  constexpr const char* kAllowed = "a whole number, at least 1";
  if (!json.contains(key)) throw InputError("codec." + key, "it is missing", kAllowed);
  const Json& value = json[key];
  if (!value.is_number_integer() || value < 1 || value > std::numeric_limits<int>::max())
    refuse(key, value, kAllowed);
  return value;
}

Wire wire_in(const Json& json, const std::string& key) {
  const std::string name = json[key].is_string() ? json[key] : Json("");
  const Wire wire = parse_wire(name);
  if (to_string(wire) != name) refuse(key, json[key], "fp32, bf16, fp16 or int8");
  return wire;
}

Quantizer quantizer_in(const Json& json) {
  const Json& name = json["quantizer"];
  const auto found = name.is_string() ? quantizer_named(name) : std::nullopt;
  if (!found) refuse("quantizer", name, fmt::format("one of {}", fmt::join(quantizer_names(), ", ")));
  return *found;
}

Numbers numbers_in(const Json& json) {
  if (json.contains("numbers") == json.contains("quantizer"))
    throw InputError("codec", "found " + json.dump(), "one of \"numbers\" and \"quantizer\"");
  if (json.contains("quantizer")) return quantizer_in(json);
  return wire_in(json, "numbers");
}

TopK top_k_in(const Json& json) {
  const TopK format{count_in(json, "chunk"), count_in(json, "top_k"), numbers_in(json)};
  if (format.kept > format.chunk)
    throw InputError("codec.top_k", fmt::format("found {} of {}", format.kept, format.chunk),
                     "at least 1 and at most all of a chunk");
  return format;
}

std::vector<MatrixShape> matrices_in(const Json& json) {
  constexpr const char* kAllowed = "a list of [rows, columns], each at least 1";
  std::vector<MatrixShape> matrices;
  const Json list = json.value("matrices", Json::array());
  if (!list.is_array()) refuse("matrices", list, kAllowed);
  for (const Json& entry : list) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_number_integer() ||
        !entry[1].is_number_integer() || entry[0] < 1 || entry[1] < 1)
      refuse("matrices", entry, kAllowed);
    matrices.push_back({entry[0], entry[1]});
    const MatrixShape& last = matrices.back();
    if (static_cast<double>(last.rows) * static_cast<double>(last.columns) >
        static_cast<double>(kMostParameters))
      refuse("matrices", entry, fmt::format("at most {} numbers", kMostParameters));
  }
  return matrices;
}

DctTopK dct_in(const Json& json) {
  const DctTopK format{count_in(json, "tile"), count_in(json, "top_k"), numbers_in(json), matrices_in(json)};
  constexpr int kLargestTile = 4096;  // its square is a place
  if (format.tile > kLargestTile) refuse("tile", json["tile"], fmt::format("at most {}", kLargestTile));
  if (format.kept > format.tile * format.tile)
    refuse("top_k", json["top_k"], "at most all of a tile, its side squared");
  return format;
}

std::variant<Wire, Quantized> row_format_in(const Json& json) {
  const Numbers numbers = numbers_in(json);
  if (numbers.is_quantized) return Quantized{numbers.quantizer, count_in(json, "block")};
  return numbers.wire;
}

LowRank low_rank_in(const Json& json) {
  LowRank format;
  format.rank = count_in(json, "rank");
  format.factors = row_format_in(json);
  if (json.contains("plain")) format.plain = wire_in(json, "plain");
  if (json.contains("iterations")) format.iterations = count_in(json, "iterations");
  format.matrices = matrices_in(json);
  check_matrices_known(format.matrices, "codec.matrices");
  return format;
}

RandomMask mask_in(const Json& json) {
  const Json& share = json["share"];
  if (!share.is_number() || !(share > 0) || !(share <= 1)) refuse("share", share, "above 0, at most 1");
  return {share, row_format_in(json)};
}

constexpr const char* kFeedbacks[] = {"", "classic", "ef21"};  // in the order of the enumeration

void read_feedback(const Json& json, Codec& codec) {
  if (json.contains("error_feedback")) {
    const Json& word = json["error_feedback"];
    if (word == kFeedbacks[1])
      codec.feedback = Feedback::kClassic;
    else if (word == kFeedbacks[2])
      codec.feedback = Feedback::kEf21;
    else
      refuse("error_feedback", word, "classic or ef21");
  }
  if (!json.contains("decay")) return;
  const Json& decay = json["decay"];
  if (codec.feedback != Feedback::kClassic)
    refuse("decay", decay, "with \"error_feedback\": \"classic\" alone");
  if (!decay.is_number() || !(decay > 0) || !(decay <= 1)) refuse("decay", decay, "above 0, at most 1");
  codec.decay = decay;
}

}  // namespace

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

std::string to_string(Quantizer quantizer) {
  return facts_of(quantizer).name;
}

const std::vector<std::string>& quantizer_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const QuantizerFacts& quantizer_facts : kQuantizers) all.emplace_back(quantizer_facts.name);
    return all;
  }();
  return names;
}

std::optional<Quantizer> quantizer_named(const std::string& name) {
  const std::vector<std::string>& names = quantizer_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Quantizer>(found - names.begin());
}

Quantizer whole_quantizer(int bits) {
  const std::optional<Quantizer> found = quantizer_named(fmt::format("int{}", bits));
  if (!found) throw std::logic_error(fmt::format("no whole numbers of {} bits", bits));
  return *found;
}

int largest_whole(Quantizer quantizer) {
  const bool is_whole = std::string(facts_of(quantizer).name).rfind("int", 0) == 0;
  return is_whole ? (1 << (code_bits(quantizer) - 1)) - 1 : 0;
}

int code_bits(Quantizer quantizer) {
  return facts_of(quantizer).bits;
}

int shared_bytes(Quantizer quantizer) {
  return facts_of(quantizer).shared;
}

std::string to_string(const Numbers& numbers) {
  return numbers.is_quantized ? to_string(numbers.quantizer) : to_string(numbers.wire);
}

std::int64_t numbers_bytes(const Numbers& numbers, std::int64_t count) {
  if (!numbers.is_quantized) return count * bytes_per_parameter(numbers.wire);
  if (count == 0) return 0;
  return shared_bytes(numbers.quantizer) + (count * code_bits(numbers.quantizer) + 7) / 8;
}

int place_bits(std::int64_t count) {
  int bits = 0;
  while ((std::int64_t{1} << bits) < count) ++bits;
  return bits;
}

std::int64_t chunk_bytes(const TopK& codec, std::int64_t columns) {
  const std::int64_t kept = std::min<std::int64_t>(codec.kept, columns);
  return numbers_bytes(codec.values, kept) + (kept * place_bits(codec.chunk) + 7) / 8;
}

std::vector<TileGrid> tile_grids(const DctTopK& codec, std::int64_t columns) {
  std::vector<TileGrid> grids;
  std::int64_t first = 0;
  const auto add = [&](std::int64_t height, std::int64_t width, std::int64_t down, std::int64_t across) {
    if (down * across == 0) return;
    grids.push_back({first, height, width, down, across});
    first += height * width * down * across;
  };
  if (!codec.matrices.empty()) {
    check_size(codec.matrices, columns);
    for (const MatrixShape& matrix : codec.matrices) {
      const std::int64_t height = largest_divisor(matrix.rows, codec.tile),
                         width = largest_divisor(matrix.columns, codec.tile);
      add(height, width, matrix.rows / height, matrix.columns / width);
    }
    return grids;
  }
  const std::int64_t side = codec.tile, rows = columns / side;
  add(side, side, rows / side, 1);
  add(rows % side, side, rows % side > 0, 1);
  add(1, columns % side, columns % side > 0, 1);
  return grids;
}

std::int64_t tile_bytes(const DctTopK& codec, const TileGrid& grid) {
  const std::int64_t kept = std::min<std::int64_t>(codec.kept, grid.area());
  return numbers_bytes(codec.values, kept) + (kept * place_bits(grid.area()) + 7) / 8;
}

std::int64_t drawn_columns(const RandomMask& codec, std::int64_t columns) {
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(columns) * codec.share));
}

std::int64_t matrix_bytes(const LowRank& codec, const MatrixShape& matrix) {
  if (codec.is_plain(matrix)) return bytes_of(codec.plain, matrix.rows * matrix.columns);
  return std::visit(
      [&](const auto& row) {
        return codec.rank * (bytes_of(row, matrix.rows) + bytes_of(row, matrix.columns));
      },
      codec.factors);
}

void check_matrices_known(const std::vector<MatrixShape>& matrices, const std::string& path) {
  if (matrices.empty())
    throw InputError(path, "no matrices are known", "the shapes of the model's matrices",
                     "describe the model by its shape (workload.model), not by a number of parameters alone");
}

std::int64_t encoded_bytes(const Codec& codec, std::int64_t columns) {
  return std::visit([&](const auto& format) { return bytes_of(format, columns); }, codec.format);
}

std::string to_string(const Codec& codec) {
  std::string words = std::visit([](const auto& format) { return words_of(format); }, codec.format);
  if (codec.feedback == Feedback::kClassic) words += ", error feedback";
  if (codec.feedback == Feedback::kEf21) words += ", EF21";
  if (codec.decay != 1) words += fmt::format(" × {}", codec.decay);
  return words;
}

Json to_json(const Codec& codec) {
  Json json = std::visit([](const auto& format) { return json_of(format); }, codec.format);
  if (codec.feedback != Feedback::kNone)
    json["error_feedback"] = kFeedbacks[static_cast<int>(codec.feedback)];
  if (codec.decay != 1) json["decay"] = codec.decay;
  return json;
}

Codec codec_from(const Json& json) {
  if (!json.is_object()) throw InputError("codec", "found " + json.dump(), "an object");
  Codec codec;
  if (json.contains("rank"))
    codec.format = low_rank_in(json);
  else if (json.contains("tile"))
    codec.format = dct_in(json);
  else if (json.contains("top_k"))
    codec.format = top_k_in(json);
  else if (json.contains("share"))
    codec.format = mask_in(json);
  else
    std::visit([&](const auto& row) { codec.format = row; }, row_format_in(json));
  read_feedback(json, codec);
  return codec;
}

}  // namespace longhaul
