// Lengths by hand, JSON and words of the codecs.
#include "core/codec.h"

#include <gtest/gtest.h>

#include "core/errors.h"

namespace longhaul {
namespace {

TEST(Codec, QuantizedBlocksAreAsLongAsWorkedOutByHand) {
  const auto bytes = [](Quantizer numbers, int block, std::int64_t columns) {
    return encoded_bytes({Quantized{numbers, block}}, columns);
  };
  EXPECT_EQ(bytes(Quantizer::kInt8, 1024, 1024), 4 + 1024);
  EXPECT_EQ(bytes(Quantizer::kInt8, 1024, 1025), 4 + 1024 + 4 + 1);
  EXPECT_EQ(bytes(Quantizer::kInt4, 1024, 1023), 4 + 512) << "half a byte is filled up";
  EXPECT_EQ(bytes(Quantizer::kE3m0, 1024, 2048), 2 * (4 + 512));
  EXPECT_EQ(bytes(Quantizer::kTwoBit, 1024, 1024), 4 * 2 + 256);
  EXPECT_EQ(bytes(Quantizer::kSign, 1024, 1024 + 9), 4 + 128 + 4 + 2);
  for (const Quantizer one :
       {Quantizer::kInt8, Quantizer::kInt4, Quantizer::kE3m0, Quantizer::kTwoBit, Quantizer::kSign})
    EXPECT_EQ(bytes(one, 7, 0), 0);
}

// SparseLoCo: 64 of 4096 with 2 bits each, 12 bits for each place.
TEST(Codec, QuantizedTopKIsAsLongAsWorkedOutByHand) {
  const Codec sparse{TopK{4096, 64, Quantizer::kTwoBit}};
  EXPECT_EQ(encoded_bytes(sparse, 4096), 64 * (2 + 12) / 8 + 8);
  EXPECT_EQ(encoded_bytes(sparse, 4096 + 3), 120 + 8 + 1 + 5) << "three values of 2 bits, three places";
}

TEST(Codec, ReadsBackFromJsonAndHasWords) {
  const std::pair<Codec, const char*> all[] = {
      {{Wire::kFp16}, "fp16"},
      {{Quantized{}}, "int8 in blocks of 1024"},
      {{Quantized{Quantizer::kInt4, 64}, Feedback::kEf21}, "int4 in blocks of 64, EF21"},
      {{Quantized{Quantizer::kE3m0}}, "e3m0 in blocks of 1024"},
      {{Quantized{Quantizer::kSign}, Feedback::kClassic}, "sign in blocks of 1024, error feedback"},
      {{TopK{64, 5, Wire::kBf16}}, "top-k 5 of 64, bf16"},
      {{TopK{4096, 64, Quantizer::kTwoBit}, Feedback::kClassic, 0.95},
       "top-k 64 of 4096, two_bit, error feedback × 0.95"},
  };
  for (const auto& [codec, words] : all) {
    EXPECT_EQ(to_string(codec), words);
    const Codec back = codec_from(Json::parse(to_json(codec).dump()));
    EXPECT_EQ(back.format, codec.format) << words;
    EXPECT_EQ(back.feedback, codec.feedback) << words;
    EXPECT_EQ(back.decay, codec.decay) << words;
  }
  EXPECT_EQ(to_json({TopK{64, 5, Wire::kBf16}}).dump(), R"({"top_k":5,"chunk":64,"numbers":"bf16"})");
}

TEST(Codec, RefusesWhatIsNone) {
  const auto path_of = [](const char* text) -> std::string {
    try {
      codec_from(Json::parse(text));
    } catch (const InputError& error) {
      return error.parts().path;
    }
    return "nothing refused";
  };
  EXPECT_EQ(path_of(R"({})"), "codec");
  EXPECT_EQ(path_of(R"("bf16")"), "codec");
  EXPECT_EQ(path_of(R"({"numbers":"bf16","quantizer":"int8"})"), "codec");
  EXPECT_EQ(path_of(R"({"numbers":7})"), "codec.numbers");
  EXPECT_EQ(path_of(R"({"quantizer":"int5","block":8})"), "codec.quantizer");
  EXPECT_EQ(path_of(R"({"quantizer":"int4"})"), "codec.block");
  EXPECT_EQ(path_of(R"({"quantizer":"int4","block":0})"), "codec.block");
  EXPECT_EQ(path_of(R"({"quantizer":"int4","block":1.5})"), "codec.block");
  EXPECT_EQ(path_of(R"({"top_k":3,"numbers":"bf16"})"), "codec.chunk");
  EXPECT_EQ(path_of(R"({"top_k":9,"chunk":8,"quantizer":"sign"})"), "codec.top_k");
  EXPECT_EQ(path_of(R"({"numbers":"bf16","error_feedback":true})"), "codec.error_feedback");
  EXPECT_EQ(path_of(R"({"numbers":"bf16","decay":0.9})"), "codec.decay");
  EXPECT_EQ(path_of(R"({"numbers":"bf16","error_feedback":"classic","decay":0})"), "codec.decay");
  EXPECT_EQ(path_of(R"({"numbers":"bf16","error_feedback":"classic","decay":1.1})"), "codec.decay");
  EXPECT_EQ(path_of(R"({"numbers":"bf16","error_feedback":"ef21","decay":0.9})"), "codec.decay");
}

}  // namespace
}  // namespace longhaul
