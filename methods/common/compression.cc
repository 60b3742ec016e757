#include "methods/common/compression.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/errors.h"

namespace longhaul {

std::vector<Node> compression_options(const CompressionDefaults& defaults) {
  return {codec_option(defaults.codec),
          choice("error_feedback", words_of<Feedback>())
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
  const Feedback feedback = from_word<Feedback>(options.at("error_feedback"), "method.error_feedback");
  const double decay = feedback == Feedback::kClassic ? options.at("feedback_decay").get<double>() : 1;
  const CodecColumns setting{model.wire, [&] { return matrices_of(columns, model.layout); }};
  Codec codec(format_from_option(options.at("codec"), setting), feedback, decay);
  codec.reduction = from_word<Reduction>(options.value("reduction", "once"), "method.reduction");
  return codec;
}

void compress(const Json& options, const PlannedModel& model, OperationRule& rule) {
  for (PayloadPart& part : rule.payload) part.codec = codec_of(options, model, part.columns);
  if (rule.payload.front().codec.adds_up()) return;
  rule.kind = OperationKind::kAllGather;
  rule.collective = "all-gather";
}

Node reduction_option(const std::vector<std::string>& words) {
  const bool has_servers = std::count(words.begin(), words.end(), "servers") > 0;
  return choice("reduction", words)
      .by_default("once")
      .later()
      .means(has_servers
                 ? "where the mean is rounded. once: nowhere; two-shot: before it goes back; servers: so, "
                   "with an error feedback of theirs"
                 : "with a quantized codec: where the mean is rounded. once: nowhere; two-shot (all_reduce "
                   "direct): before it goes back; ring (all_reduce ring): each partial sum, and "
                   "the whole one");
}

namespace {

void check_reduction(const Json& options, const Codec::Format& format) {
  const std::string word = options.value("reduction", "once"), found = "found \"" + word + "\"",
                    feedback = options.at("error_feedback");
  const auto refuse = [&](const std::string& with, const char* allowed, const char* hint) {
    throw InputError("method.reduction", found + " with " + with, allowed, hint);
  };
  const auto reduction = from_word<Reduction>(word, "method.reduction");
  if (reduction == Reduction::kOnce) return;
  const bool is_ring = reduction == Reduction::kRing;
  const auto* quantized = std::get_if<Quantized>(&format);
  if (!quantized)
    refuse("codec " + options.at("codec").dump(), "\"once\", or a quantizer of all columns as codec",
           "a sum of such messages is not rounded to one of them");
  else if (const QuantizerFacts& facts = facts_of(quantized->numbers);
           is_ring && (facts.shared_bytes > 4 || facts.bits == 1))
    refuse(fmt::format("codec {}", facts.word), "codec int8 … int2 or e3m0",
           "partial sums do not fit into four levels or two");
  if (is_ring ? feedback != "none" : feedback == "ef21")
    refuse("error_feedback " + feedback, is_ring ? "error_feedback none" : "none or classic",
           is_ring ? "a partial sum is rounded, not a message of one replica"
                   : "what EF21 adds up is the mean of the messages");
  if (const Json& all_reduce = options.at("all_reduce"); all_reduce != (is_ring ? "ring" : "direct"))
    refuse("all_reduce " + plain(all_reduce), is_ring ? "all_reduce ring" : "all_reduce direct",
           "the replay sends the bytes that are rounded");
  if (is_ring && options.value("overlap_backward", 0.) != 0)
    refuse("overlap_backward", "overlap_backward 0", "a ring goes around the whole payload, not each bucket");
}

}  // namespace

void check_compression(const Case& config) {
  const Json& options = config.method.options;
  // Whether there are matrices matters, not which ones.
  const std::vector<MatrixShape> matrices(config.workload.model ? 1 : 0);
  check_reduction(options,
                  format_from_option(options.at("codec"), {config.workload.wire, [&] { return matrices; }}));
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
          "sent it (the authors' code), or over all, as if the others had sent zero");
}

void check_mean_of(const Case& config) {
  const Json& options = config.method.options;
  if (options.at("mean_of") == "senders" && options.at("error_feedback") == "ef21")
    throw InputError("method.mean_of", "found \"senders\" with error_feedback \"ef21\"", "\"all\"",
                     "what EF21 adds up is the mean over all replicas");
}

}  // namespace longhaul
