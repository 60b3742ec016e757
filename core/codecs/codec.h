// Codecs: how columns of a row travel. A format is a file here with all that is known of it but its
// arithmetic, which is in trainer/codecs/: its option, its JSON and words, and the exact length of a message,
// which is known before anything is trained. A new one joins the list Codec::Format.
//
//   kOption, option()     its name and section as a value of the option `codec`
//   from_option(…)        what such a section says
//   kKey                  a key of its JSON that tells it from the formats before it in the list
//   from_json(), json()   of an operation plan; the former throws InputError
//   words(), bytes(…)     its words; the length of so many columns
//   kAddsUp               whether the sum of two messages is as long as each of them
//   kChooses              whether each message has columns, or coefficients, of its own choice
//   matrices              where the model's matters
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/codecs/dct_top_k.h"
#include "core/codecs/low_rank.h"
#include "core/codecs/numbers.h"
#include "core/codecs/quantized.h"
#include "core/codecs/random_mask.h"
#include "core/codecs/top_k.h"

namespace longhaul {

// What becomes of the part of a row that a codec leaves out. Both keep a row e or g of their own.
//
//   kClassic  sends C(x + β e), e ← x + β e − sent (Seide et al. 2014; EF-SGD, arXiv 1901.09847, β = 1;
//             SparseLoCo, arXiv 2508.15706, β = 0.95)
//   kEf21     sends c = C(x − g), g ← g + c; those who receive add c up likewise (EF21, arXiv 2106.05203)
enum class Feedback { kNone, kClassic, kEf21 };
template <>
struct Words<Feedback> {
  static constexpr Word<Feedback> all[] = {
      {Feedback::kNone, "none"}, {Feedback::kClassic, "classic"}, {Feedback::kEf21, "ef21"}};
};

// How an all-reduce of quantized messages adds them up: where what travels is rounded.
//
//   kOnce     the messages alone are rounded; their mean is one of float32, as if all went to everyone. What
//             most papers simulate: partial sums, which the replay sends in the messages' length, are not
//             rounded again
//   kTwoShot  a member gets its 1/n of all messages, and sends the mean of them, rounded once more, to all
//             (torchft's quantized all-reduce): the collective "direct"
//   kRing     around a ring of the members in ascending order each adds what it has itself, not rounded, to
//             the partial sum that comes, and sends that on, rounded; the whole sum is rounded once more for
//             the way back (int8 rings, as PCCL's): the collective "ring"
//   kServers  kTwoShot, where each member feeds back into its next mean what rounding this one left out
//             (the servers of 1-bit Adam, arXiv 2102.02888, algorithm 1)
enum class Reduction { kOnce, kTwoShot, kRing, kServers };
template <>
struct Words<Reduction> {
  static constexpr Word<Reduction> all[] = {{Reduction::kOnce, "once"},
                                            {Reduction::kTwoShot, "two-shot"},
                                            {Reduction::kRing, "ring"},
                                            {Reduction::kServers, "servers"}};
};

struct Codec {
  using Format = std::variant<Wire, Quantized, TopK, DctTopK, LowRank, RandomMask>;

  Codec() = default;
  Codec(Format format, Feedback feedback = Feedback::kNone, double decay = 1)
      : format(std::move(format)), feedback(feedback), decay(decay) {}

  Format format = Wire::kBf16;
  Feedback feedback = Feedback::kNone;
  double decay = 1;                        // β of kClassic, in (0, 1]
  Reduction reduction = Reduction::kOnce;  // another one with Quantized alone

  bool is_plain() const { return std::holds_alternative<Wire>(format) && feedback == Feedback::kNone; }
  bool adds_up() const;          // kAddsUp of its format
  bool chooses_columns() const;  // kChooses
  // The same for other columns of the model.
  Codec with_matrices(const MatricesOf& matrices) const;
};

// Of a message of so many columns. Throws std::logic_error where a codec's matrices have not as many.
std::int64_t encoded_bytes(const Codec& codec, std::int64_t columns);

// "bf16", "int4 in blocks of 1024", "top-k 128 of 4096, bf16, error feedback".
std::string to_string(const Codec& codec);

Json to_json(const Codec& codec);
Codec codec_from(const Json& json);  // throws InputError for what is no codec

// The option `codec`: "wire", a quantizer, or a section that names a format. from_option throws InputError
// with the path "method.codec…".
Node codec_option(const Json& fallback);
Codec::Format format_from_option(const Json& given, const CodecColumns& columns);

}  // namespace longhaul
