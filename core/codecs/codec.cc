#include "core/codecs/codec.h"

#include <fmt/core.h>

#include <optional>
#include <type_traits>

#include "core/base/errors.h"

namespace longhaul {
namespace {

// Calls work(a format by default) for those of the list behind Wire, from the last to the first.
template <std::size_t kIndex = std::variant_size_v<Codec::Format> - 1, typename Work>
void for_each_format(const Work& work) {
  if constexpr (kIndex > 0) {
    work(std::variant_alternative_t<kIndex, Codec::Format>{});
    for_each_format<kIndex - 1>(work);
  }
}

template <typename Format, typename = void>
struct HasMatrices : std::false_type {};
template <typename Format>
struct HasMatrices<Format, std::void_t<decltype(Format::matrices)>> : std::true_type {};

// of(format) of all but the numbers of the wire, which have a result of their own.
template <typename Result, typename Of>
Result of_format(const Codec& codec, Result of_wire, const Of& of) {
  return std::visit(
      [&](const auto& format) -> Result {
        if constexpr (std::is_same_v<decltype(format), const Wire&>)
          return of_wire;
        else
          return of(format);
      },
      codec.format);
}

void read_feedback(const Json& json, Codec& codec) {
  if (json.contains("error_feedback")) {
    codec.feedback = from_word<Feedback>(plain(json["error_feedback"]), "codec.error_feedback");
    if (codec.feedback == Feedback::kNone)
      refuse_codec("error_feedback", json["error_feedback"], "classic or ef21");
  }
  if (!json.contains("decay")) return;
  const Json& decay = json["decay"];
  if (codec.feedback != Feedback::kClassic)
    refuse_codec("decay", decay, "with \"error_feedback\": \"classic\" alone");
  if (!decay.is_number() || !(decay > 0) || !(decay <= 1)) refuse_codec("decay", decay, "above 0, at most 1");
  codec.decay = decay;
}

}  // namespace

bool Codec::adds_up() const {
  return of_format(*this, true, [](const auto& format) { return format.kAddsUp; });
}

bool Codec::chooses_columns() const {
  return of_format(*this, false, [](const auto& format) { return format.kChooses; });
}

Codec Codec::with_matrices(const MatricesOf& matrices) const {
  Codec codec = *this;
  std::visit(
      [&](auto& format) {
        if constexpr (HasMatrices<std::decay_t<decltype(format)>>::value)
          if (!format.matrices.empty()) format.matrices = matrices();
      },
      codec.format);
  return codec;
}

std::int64_t encoded_bytes(const Codec& codec, std::int64_t columns) {
  if (const Wire* wire = std::get_if<Wire>(&codec.format)) return bytes_of(*wire, columns);
  return of_format(codec, std::int64_t{}, [&](const auto& format) { return format.bytes(columns); });
}

std::string to_string(const Codec& codec) {
  std::string words;
  if (const Wire* wire = std::get_if<Wire>(&codec.format)) words = word_of(*wire);
  words = of_format(codec, words, [](const auto& format) { return format.words(); });
  if (codec.feedback == Feedback::kClassic) words += ", error feedback";
  if (codec.feedback == Feedback::kEf21) words += ", EF21";
  if (codec.decay != 1) words += fmt::format(" × {}", codec.decay);
  if (codec.reduction != Reduction::kOnce) words += fmt::format(", {} reduction", word_of(codec.reduction));
  return words;
}

Json to_json(const Codec& codec) {
  Json json;
  if (const Wire* wire = std::get_if<Wire>(&codec.format)) json = json_of(*wire);
  json = of_format(codec, json, [](const auto& format) { return format.json(); });
  if (codec.feedback != Feedback::kNone) json["error_feedback"] = word_of(codec.feedback);
  if (codec.decay != 1) json["decay"] = codec.decay;
  if (codec.reduction != Reduction::kOnce) json["reduction"] = word_of(codec.reduction);
  return json;
}

Codec codec_from(const Json& json) {
  if (!json.is_object()) throw InputError("codec", "found " + json.dump(), "an object");
  std::optional<Codec> codec;
  for_each_format([&](const auto& format) {
    if (!codec && json.contains(format.kKey)) codec = Codec(format.from_json(json));
  });
  if (!codec) codec = Codec(Numbers::from_json(json).wire);
  read_feedback(json, *codec);
  if (json.contains("reduction")) {
    codec->reduction = from_word<Reduction>(plain(json["reduction"]), "codec.reduction");
    if (!std::holds_alternative<Quantized>(codec->format))
      refuse_codec("reduction", json["reduction"], "with quantized columns alone");
  }
  return *codec;
}

Node codec_option(const Json& fallback) {
  std::vector<std::string> words = words_of<Quantizer>();
  words.insert(words.begin(), "wire");
  std::vector<Node> sections;
  for_each_format([&](const auto& format) { sections.insert(sections.begin(), format.option()); });
  return either("codec", {choice("", words), one_of("", sections)})
      .by_default(fallback)
      .later()
      .means(
          "how outer gradients travel: in the numbers of workload.wire, quantized in blocks of 1024 columns, "
          "or as an object says (docs/methods.md)");
}

Codec::Format format_from_option(const Json& given, const CodecColumns& columns) {
  Codec::Format found = columns.wire;
  if (given.is_string())
    std::visit([&](const auto& row) { found = row; }, row_from_option(given, columns.wire));
  for_each_format([&](const auto& format) {
    if (given.is_object() && given.contains(format.kOption))
      found = format.from_option(given[format.kOption], columns);
  });
  return found;
}

}  // namespace longhaul
