#include "methods/common/compression.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/errors.h"

namespace longhaul {
namespace {

Numbers numbers_of(const std::string& name, Wire wire) {
  if (name == "wire") return wire;
  return *quantizer_named(name);
}

// Whether the sum of two messages has the length of one: blocks of all columns, or of those that were drawn
// for all, but no columns, coefficients or directions of each replica's own.
bool adds_up(const Codec& codec) {
  return std::holds_alternative<Wire>(codec.format) || std::holds_alternative<Quantized>(codec.format) ||
         std::holds_alternative<RandomMask>(codec.format);
}

}  // namespace

Node numbers_option(const char* key, std::string fallback) {
  std::vector<std::string> names = quantizer_names();
  names.insert(names.begin(), "wire");
  return choice(key, names)
      .by_default(std::move(fallback))
      .means("how the values that are kept travel; wire: as workload.wire says");
}

std::variant<Wire, Quantized> row_of(const std::string& name, Wire wire) {
  if (name == "wire") return wire;
  return Quantized{*quantizer_named(name)};
}

std::vector<Node> compression_options(const CompressionDefaults& defaults) {
  std::vector<std::string> words = quantizer_names();
  words.insert(words.begin(), "wire");
  return {
      either(
          "codec",
          {choice("", words),
           one_of("",
                  {section("quantized",
                           {choice("numbers", quantizer_names()).required().means("the format of a number"),
                            integer("block").at_least(1).by_default(1024).in("columns").means(
                                "columns that share a scale")})
                       .means("all columns, in blocks"),
                   section("top_k", {integer("chunk").at_least(1).by_default(4096).in("columns").means(
                                         "columns of which the largest travel"),
                                     integer("kept").at_least(1).by_default(64).in("columns").means(
                                         "how many of a chunk travel"),
                                     numbers_option("numbers", "wire")})
                       .means("of each chunk the columns of largest magnitude"),
                   section("dct_top_k",
                           {integer("tile").at_least(1).by_default(64).means("longest side of a tile"),
                            integer("kept").at_least(1).by_default(32).means(
                                "how many coefficients of a tile travel"),
                            numbers_option("numbers", "wire")})
                       .means("the largest coefficients of a cosine transform of each tile of a matrix"),
                   section("low_rank",
                           {integer("rank").at_least(1).by_default(4).means("columns of both factors"),
                            integer("iterations").at_least(1).by_default(1).means("of the power iteration"),
                            numbers_option("factors", "wire")})
                       .means("each matrix as the product of two factors"),
                   section("random_mask", {number("share").above(0).at_most(1).by_default(0.005).means(
                                               "share of the columns that travel"),
                                           numbers_option("numbers", "wire")})
                       .means("columns drawn at random, the same for all replicas")})})
          .by_default(defaults.codec)
          .later()
          .means("how outer gradients travel: in the numbers of workload.wire, quantized in blocks of 1024 "
                 "columns (int8 to int2, e3m0, two_bit, two_bit_six_sigma, sign), or as an object says "
                 "(docs/methods.md)"),
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

Codec codec_of(const Json& options, const PlannedModel& model, const Columns& columns) {
  Codec codec{model.wire};
  const Json& given = options.at("codec");
  if (given.is_string() && given != "wire") codec.format = Quantized{*quantizer_named(given)};
  if (given.is_object() && given.contains("quantized"))
    codec.format =
        Quantized{*quantizer_named(given["quantized"].at("numbers")), given["quantized"].at("block")};
  if (given.is_object() && given.contains("top_k")) {
    const Json& top = given["top_k"];
    codec.format = TopK{top.at("chunk"), top.at("kept"), numbers_of(top.at("numbers"), model.wire)};
  }
  if (given.is_object() && given.contains("dct_top_k")) {
    const Json& dct = given["dct_top_k"];
    codec.format = DctTopK{dct.at("tile"), dct.at("kept"), numbers_of(dct.at("numbers"), model.wire),
                           matrices_of(columns, model.layout)};
  }
  if (given.is_object() && given.contains("low_rank")) {
    const Json& low = given["low_rank"];
    codec.format = LowRank{low.at("rank"), row_of(low.at("factors"), model.wire), model.wire,
                           low.at("iterations"), matrices_of(columns, model.layout)};
  }
  if (given.is_object() && given.contains("random_mask")) {
    const Json& mask = given["random_mask"];
    codec.format = RandomMask{mask.at("share"), row_of(mask.at("numbers"), model.wire)};
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
  for (PayloadPart& part : rule.payload) part.codec = codec_of(options, model, part.columns);
  if (adds_up(rule.payload.front().codec)) return;
  rule.kind = OperationKind::kAllGather;
  rule.collective = "all-gather";
}

void check_compression(const Case& config) {
  const Json& options = config.method.options;
  const Json& codec = options.at("codec");
  if (codec.is_object() && codec.contains("top_k") && codec["top_k"].at("kept") > codec["top_k"].at("chunk"))
    throw InputError(
        "method.codec.top_k.kept",
        fmt::format("found {} of {}", codec["top_k"]["kept"].dump(), codec["top_k"]["chunk"].dump()),
        "at most all of a chunk");
  if (codec.is_object() && codec.contains("low_rank") && !config.workload.model)
    throw InputError("method.codec.low_rank", "found with workload.parameters", "another codec",
                     "or give workload.model: low rank needs the matrices of the model");
  if (options.at("error_feedback") != "classic" && options.at("feedback_decay") != 1)
    throw InputError("method.feedback_decay",
                     fmt::format("found {} with error_feedback {}", options["feedback_decay"].dump(),
                                 options["error_feedback"].dump()),
                     "1, or error_feedback \"classic\"");
}

Node mean_of_option() {
  return choice("mean_of", {"senders", "all"})
      .by_default("senders")
      .means(
          "with top_k and dct_top_k: the mean of a column, or of a coefficient, is over the replicas that "
          "sent "
          "it (the authors' code), or over all, as if the others had sent zero");
}

void check_mean_of(const Case& config) {
  const Json& options = config.method.options;
  if (options.at("mean_of") == "senders" && options.at("error_feedback") == "ef21")
    throw InputError("method.mean_of", "found \"senders\" with error_feedback \"ef21\"", "\"all\"",
                     "what EF21 adds up is the mean over all replicas");
}

}  // namespace longhaul
