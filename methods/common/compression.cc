#include "methods/common/compression.h"

#include <fmt/core.h>

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
  return {format_from_option(options.at("codec"), setting), feedback, decay};
}

void compress(const Json& options, const PlannedModel& model, OperationRule& rule) {
  for (PayloadPart& part : rule.payload) part.codec = codec_of(options, model, part.columns);
  if (rule.payload.front().codec.adds_up()) return;
  rule.kind = OperationKind::kAllGather;
  rule.collective = "all-gather";
}

void check_compression(const Case& config) {
  const Json& options = config.method.options;
  // Whether there are matrices matters, not which ones.
  const std::vector<MatrixShape> matrices(config.workload.model ? 1 : 0);
  format_from_option(options.at("codec"), {config.workload.wire, [&] { return matrices; }});
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
