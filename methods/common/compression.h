// Compression as a method's options, and the codec that they make (core/codecs/codec.h).
#pragma once

#include <string>
#include <vector>

#include "methods/common/method.h"

namespace longhaul {

// `codec`, `error_feedback` and `feedback_decay`, with these defaults.
struct CompressionDefaults {
  Json codec = "wire";
  const char* error_feedback = "none";
  double decay = 1;
};
std::vector<Node> compression_options(const CompressionDefaults& defaults = {});

// For these columns of the model; "wire" is the number format of its wire.
Codec codec_of(const Json& options, const PlannedModel& model, const Columns& columns);

// Gives all parts of the rule's payload, whose columns are there, the codec. Where a sum of messages is
// longer than each of them, since each has columns of its own, all messages go to everyone instead of being
// added up on their way.
void compress(const Json& options, const PlannedModel& model, OperationRule& rule);

// Throws InputError where the options contradict each other.
void check_compression(const Case& config);

// `reduction` of methods with `all_reduce`, one of these words; check_compression() checks it too.
Node reduction_option(const std::vector<std::string>& words = {"once", "two-shot", "ring"});

// `mean_of`: what a mean of sparse messages is divided by; and whether it goes with error_feedback.
Node mean_of_option();
void check_mean_of(const Case& config);

}  // namespace longhaul
