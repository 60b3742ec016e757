#include "methods/common/compression.h"

#include <fmt/core.h>

#include "core/errors.h"

namespace longhaul {
namespace {

const std::vector<std::string>& quantizers() {
  static const std::vector<std::string> names = {"int8", "int4", "e3m0", "two_bit", "sign"};
  return names;
}

Node numbers_option(std::string fallback) {
  std::vector<std::string> names = quantizers();
  names.insert(names.begin(), "wire");
  return choice("numbers", names)
      .by_default(std::move(fallback))
      .means("how the values of a chunk travel; wire: as workload.wire says");
}

Quantizer quantizer_named(const std::string& name) {
  const auto& names = quantizers();
  return static_cast<Quantizer>(std::find(names.begin(), names.end(), name) - names.begin());
}

Numbers numbers_of(const std::string& name, Wire wire) {
  if (name == "wire") return wire;
  return quantizer_named(name);
}

bool is_sparse(const Codec& codec) {
  return std::holds_alternative<TopK>(codec.format);
}

}  // namespace

std::vector<Node> compression_options(const CompressionDefaults& defaults) {
  std::vector<std::string> words = quantizers();
  words.insert(words.begin(), "wire");
  return {
      either("codec",
             {choice("", words),
              one_of("", {section("quantized",
                                  {choice("numbers", quantizers()).required().means("the format of a number"),
                                   integer("block").at_least(1).by_default(1024).in("columns").means(
                                       "columns that share a scale")})
                              .means("all columns, in blocks"),
                          section("top_k", {integer("chunk").at_least(1).by_default(4096).in("columns").means(
                                                "columns of which the largest travel"),
                                            integer("kept").at_least(1).by_default(64).in("columns").means(
                                                "how many of a chunk travel"),
                                            numbers_option("wire")})
                              .means("of each chunk the columns of largest magnitude")})})
          .by_default(defaults.codec)
          .later()
          .means("how outer gradients travel: in the numbers of workload.wire, quantized in blocks of 1024 "
                 "columns (int8, int4, e3m0, two_bit, sign), or as an object says (docs/methods.md)"),
      choice("error_feedback", {"none", "classic", "ef21"})
          .by_default(defaults.error_feedback)
          .later()
          .means("classic: what a message leaves out is added to the next one; ef21: the difference from "
                 "what was sent so far travels"),
      number("feedback_decay")
          .above(0)
          .at_most(1)
          .by_default(defaults.decay)
          .later()
          .means("with classic: share β of what was left out that is added")};
}

Codec codec_of(const Json& options, const PlannedModel& model) {
  Codec codec{model.wire};
  const Json& given = options.at("codec");
  if (given.is_string() && given != "wire") codec.format = Quantized{quantizer_named(given)};
  if (given.is_object() && given.contains("quantized"))
    codec.format =
        Quantized{quantizer_named(given["quantized"].at("numbers")), given["quantized"].at("block")};
  if (given.is_object() && given.contains("top_k")) {
    const Json& top = given["top_k"];
    codec.format = TopK{top.at("chunk"), top.at("kept"), numbers_of(top.at("numbers"), model.wire)};
  }
  const std::string feedback = options.at("error_feedback");
  if (feedback == "ef21") codec.feedback = Feedback::kEf21;
  if (feedback == "classic") {
    codec.feedback = Feedback::kClassic;
    codec.decay = options.at("feedback_decay");
  }
  return codec;
}

void compress(const Json& options, const PlannedModel& model, OperationRule& rule) {
  const Codec codec = codec_of(options, model);
  for (PayloadPart& part : rule.payload) part.codec = codec;
  if (!is_sparse(codec)) return;
  rule.kind = OperationKind::kAllGather;
  rule.collective = "all-gather";
}

void check_compression(const Case& one) {
  const Json& options = one.method.options;
  const Json& codec = options.at("codec");
  if (codec.is_object() && codec.contains("top_k") && codec["top_k"].at("kept") > codec["top_k"].at("chunk"))
    throw InputError(
        "method.codec.top_k.kept",
        fmt::format("found {} of {}", codec["top_k"]["kept"].dump(), codec["top_k"]["chunk"].dump()),
        "at most all of a chunk");
  if (options.at("error_feedback") != "classic" && options.at("feedback_decay") != 1)
    throw InputError("method.feedback_decay",
                     fmt::format("found {} with error_feedback {}", options["feedback_decay"].dump(),
                                 options["error_feedback"].dump()),
                     "1, or error_feedback \"classic\"");
}

}  // namespace longhaul
