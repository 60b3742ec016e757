// Codecs on the GPU, or on the emulated one: the very bytes, decoded numbers and feedback of the host.
#include "tests/unit/trainer/codec_support.h"
#include "tests/unit/trainer/gpu_here.h"

#ifdef LONGHAUL_WITH_CUDA
#include "trainer/cuda/device_codec.h"

namespace longhaul {
namespace {

constexpr std::int64_t kRows = 3, kParameters = 9000;

// Two ranges, 8192 + 100 columns: no multiple of a block or a chunk.
const Columns kSome = {{5, 8197}, {8500, 8600}};

std::vector<Codec> codecs() {
  std::vector<Codec> all = {{Wire::kFp32}, {Wire::kBf16}, {Wire::kFp16}};
  for (const Quantizer quantizer : {Quantizer::kInt8, Quantizer::kInt4, Quantizer::kE3m0, Quantizer::kTwoBit,
                                    Quantizer::kSign, Quantizer::kInt7, Quantizer::kInt6, Quantizer::kInt5,
                                    Quantizer::kInt3, Quantizer::kInt2, Quantizer::kTwoBitSixSigma}) {
    all.push_back({Quantized{quantizer, 1000}});
    all.push_back({TopK{4096, 64, quantizer}});
  }
  all.push_back({TopK{256, 300 / 2, Wire::kFp16}});
  all.push_back({DctTopK{64, 32, Wire::kBf16}});
  all.push_back({DctTopK{64, 32, Quantizer::kTwoBit, {{128, 60}, {1, 512}, {100, 1}}}});
  LowRank low;  // 8292 columns
  low.rank = 5;
  low.matrices = {{128, 60}, {1, 512}, {10, 10}};
  all.push_back({low});
  low.factors = Quantized{Quantizer::kInt4, 50};
  low.plain = Wire::kFp16;
  low.iterations = 2;
  all.push_back({low});
  all.push_back({RandomMask{0.3, Wire::kBf16}});
  all.push_back({RandomMask{0.005, Quantized{Quantizer::kInt8, 1024}}});
  return all;
}

// Several messages one after the other of the same rows, so that what was fed back is used.
void expect_the_hosts(Codec codec, const Columns& columns, const Row& table, const Row& less) {
  const MessageFormat format({"row", codec, columns}, kParameters, 77);
  DeviceCodec device(format, kRows, kParameters);
  const bool feeds_back = codec.feedback != Feedback::kNone;
  const DeviceTable<float> rows(table), slow(less), kept(Row(table.size(), 0));
  Row expected_kept(table.size(), 0);
  for (int round = 0; round < 3; ++round) {
    device.encode(rows.get(), slow.get(), feeds_back ? kept.get() : nullptr, nullptr);
    const std::vector<std::uint8_t> bytes = device.read_messages();
    const Row sent = device.read_sent();
    for (std::int64_t row = 0; row < kRows; ++row) {
      const Message host =
          Message(format, RowSource{table.data() + row * kParameters, less.data() + row * kParameters})
              .encoded(feeds_back ? expected_kept.data() + row * kParameters : nullptr);
      const std::vector<std::uint8_t> found(bytes.begin() + row * format.bytes(),
                                            bytes.begin() + (row + 1) * format.bytes());
      ASSERT_EQ(found, host.bytes()) << to_string(codec) << ", round " << round;
      std::int64_t place = 0;
      for (const ColumnRange& range : format.ranges)
        for (std::int64_t column = range.begin; column < range.end; ++column, ++place) {
          float expected;
          host.read(column, column + 1, &expected);
          ASSERT_EQ(sent[static_cast<std::size_t>(row * format.columns + place)], expected)
              << to_string(codec) << ", column " << column;
        }
    }
    ASSERT_EQ(kept.read(), expected_kept) << to_string(codec) << ", round " << round;
  }
}

TEST(DeviceCodec, HasTheBytesOfTheHost) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  Row table = uneven_row(kRows * kParameters, 1), less = uneven_row(kRows * kParameters, 2);
  for (std::size_t i = 0; i < table.size(); i += 5)
    table[i] = less[i] + std::round(4 * table[i]) / 4;  // ties
  for (Codec codec : codecs())
    for (const Feedback feedback : {Feedback::kNone, Feedback::kClassic, Feedback::kEf21}) {
      codec.feedback = feedback;
      codec.decay = feedback == Feedback::kClassic ? 0.95 : 1;
      expect_the_hosts(codec, kSome, table, less);
    }
}

}  // namespace
}  // namespace longhaul
#endif
