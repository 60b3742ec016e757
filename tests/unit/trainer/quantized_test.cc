// Quantized blocks against a slow reference that searches or sorts in float64, and by hand.
#include <limits>
#include <map>
#include <numeric>

#include "core/base/index.h"
#include "tests/unit/trainer/codec_support.h"
#include "trainer/codecs/wire_format.h"

namespace longhaul::quantized_test {

// 0 or largest · 2^-6 … 2^0: the nearest, of two as near the later one.
double e3m0_reference(double magnitude, double largest) {
  double best = 0;
  for (int exponent = -6; exponent <= 0; ++exponent) {
    const double x = std::ldexp(largest, exponent);
    if (std::abs(magnitude - x) <= std::abs(magnitude - best)) best = x;
  }
  return best;
}

// Ties of whole numbers go to the even one.
double whole_reference(double value, double scale, int largest) {
  double best = 0;
  for (int code = -largest; code <= largest; ++code) {
    const double away = std::abs(value / scale - code), least = std::abs(value / scale - best);
    if (away < least || (away == least && code % 2 == 0)) best = code;
  }
  return best * scale;
}

// Every number decoded as the mean of those that share its bin.
std::vector<double> means_of_bins(const std::vector<double>& block, const std::vector<int>& bins, Wire wire) {
  std::map<int, std::pair<double, double>> sums;
  for (std::size_t i = 0; i < block.size(); ++i) sums[bins[i]].first += block[i], ++sums[bins[i]].second;
  std::vector<double> decoded;
  for (const int bin : bins) {
    auto level = static_cast<float>(sums[bin].first / sums[bin].second);
    round_to_wire(&level, &level, 1, wire);
    decoded.push_back(level);
  }
  return decoded;
}

// Magnitudes of either sign, those up to the smaller median and those above it.
std::vector<double> two_bit_reference(const std::vector<double>& block) {
  std::vector<double> sides[2];
  for (const double value : block) sides[value < 0].push_back(std::abs(value));
  for (std::vector<double>& side : sides) std::sort(side.begin(), side.end());
  std::vector<int> bins;
  for (const double value : block) {
    const std::vector<double>& side = sides[value < 0];
    bins.push_back(2 * (value < 0) + (std::abs(value) > side[(side.size() - 1) / 2]));
  }
  return means_of_bins(block, bins, Wire::kBf16);
}

// As the authors' code: torch.round((x - mean) / scale + 2).clamp(0, 3), scale = 6 · std / 4 or, if 0, 1.
std::vector<double> six_sigma_reference(const std::vector<double>& block) {
  const auto count = static_cast<double>(block.size());
  const double mean = std::accumulate(block.begin(), block.end(), 0.) / count;
  double squares = 0;
  for (const double value : block) squares += (value - mean) * (value - mean);
  double scale = 6 * std::sqrt(squares / std::max(count - 1, 1.)) / 4;
  if (scale == 0) scale = 1;
  std::vector<int> bins;
  for (const double value : block)
    bins.push_back(static_cast<int>(std::clamp(std::nearbyint((value - mean) / scale + 2), 0., 3.)));
  return means_of_bins(block, bins, Wire::kFp32);
}

const std::map<Quantizer, int> kLevels = {
    {Quantizer::kInt8, 127}, {Quantizer::kInt7, 63}, {Quantizer::kInt6, 31}, {Quantizer::kInt5, 15},
    {Quantizer::kInt4, 7},   {Quantizer::kInt3, 3},  {Quantizer::kInt2, 1}};

std::vector<double> reference(Quantizer quantizer, const std::vector<double>& block) {
  if (quantizer == Quantizer::kTwoBit) return two_bit_reference(block);
  if (quantizer == Quantizer::kTwoBitSixSigma) return six_sigma_reference(block);
  double largest = 0, squares = 0;
  for (const double value : block) largest = std::max(largest, std::abs(value)), squares += value * value;
  std::vector<double> decoded;
  for (const double value : block) {
    const double sign = value < 0 ? -1 : 1;
    if (quantizer == Quantizer::kE3m0)
      decoded.push_back(sign * e3m0_reference(std::abs(value), largest));
    else if (quantizer == Quantizer::kSign)
      decoded.push_back(sign * std::sqrt(squares / static_cast<double>(block.size())));
    else
      decoded.push_back(
          whole_reference(value, static_cast<float>(largest / kLevels.at(quantizer)), kLevels.at(quantizer)));
  }
  return decoded;
}

TEST(Quantized, IsTheReferenceWhateverBlockIsRead) {
  Row row = uneven_row(2077, 1);
  for (std::size_t i = 0; i < row.size(); i += 3) row[i] = std::round(4 * row[i]) / 4;  // ties, zeros
  for (const QuantizerFacts& of : Words<Quantizer>::all)
    for (const int block : {1, 2, 7, 64, 1000}) {
      const Codec codec{Quantized{of.value, block}};
      const Row found = sent_of(codec, row);
      EXPECT_EQ(sent_of(codec, row, 13), found);
      for (std::size_t begin = 0; begin < row.size(); begin += as_index(block)) {
        const std::size_t end = std::min(row.size(), begin + as_index(block));
        const std::vector<double> expected = reference(of.value, {row.data() + begin, row.data() + end});
        for (std::size_t i = begin; i < end; ++i)
          ASSERT_NEAR(found[i], expected[i - begin], 1e-7 * std::abs(expected[i - begin]))
              << to_string(codec) << ", column " << i << " is " << row[i];
      }
    }
}

TEST(Quantized, HasTheBytesWorkedOutByHand) {
  const auto bytes = [](Quantizer quantizer, const Row& row) {
    return message_of({Quantized{quantizer, 1024}}, row).encoded().bytes();
  };
  using Bytes = std::vector<std::uint8_t>;
  // 127 is a scale of 1, 0x3f800000; a tie at 2.5 goes to 2, one at 3.5 to 4.
  EXPECT_EQ(bytes(Quantizer::kInt8, {127, 2.5f, -3.5f}), (Bytes{0, 0, 0x80, 0x3f, 127, 2, 0xfc}));
  EXPECT_EQ(bytes(Quantizer::kInt4, {7, 2.5f, -3.5f}), (Bytes{0, 0, 0x80, 0x3f, 0x27, 0x0c}));
  // 31 + 2 · 2^6 + 60 · 2^12 = 0x3c09f; -4 is 60 of 64.
  EXPECT_EQ(bytes(Quantizer::kInt6, {31, 2.5f, -3.5f}), (Bytes{0, 0, 0x80, 0x3f, 0x9f, 0xc0, 0x03}));
  // 3 + 6 · 2^3 + 5 · 2^9 = 0xa33; -2 is 6 of 8, -3 is 5.
  EXPECT_EQ(bytes(Quantizer::kInt3, {3, -1.5f, 0.5f, -3}), (Bytes{0, 0, 0x80, 0x3f, 0b00110011, 0b1010}));
  // 1 + 3 · 2^4 + 3 · 2^6 + 2^8 = 0x1f1; a tie at 0.5 goes to 0.
  EXPECT_EQ(bytes(Quantizer::kInt2, {1, 0.5f, -1, -0.75f, 1}), (Bytes{0, 0, 0x80, 0x3f, 0b11110001, 0b01}));
  // Codes 7, 7 (0.75 is a tie of 0.5 and 1), 6, 5 (0.3 is nearer to 0.25) and 13 for -0.25.
  EXPECT_EQ(bytes(Quantizer::kE3m0, {1, 0.75f, 0.5f, 0.3f, -0.25f}),
            (Bytes{0, 0, 0x80, 0x3f, 0x77, 0x56, 0x0d}));
  // Bins -3 | -1 | 1 | 3, in bf16 0xc040, 0xbf80, 0x3f80, 0x4040; codes 3 0 2 1.
  EXPECT_EQ(bytes(Quantizer::kTwoBit, {3, -3, 1, -1}),
            (Bytes{0x40, 0xc0, 0x80, 0xbf, 0x80, 0x3f, 0x40, 0x40, 0b01100011}));
  // The one below zero is alone with its sign; of 1, 1, 1 and 3 the smaller median is 1. Codes 1 2 2 2 and 3.
  EXPECT_EQ(bytes(Quantizer::kTwoBit, {-2, 1, 1, 1, 3}),
            (Bytes{0, 0, 0, 0xc0, 0x80, 0x3f, 0x40, 0x40, 0b10101001, 0b11}));
  EXPECT_EQ(bytes(Quantizer::kTwoBit, {2, 2}), (Bytes{0, 0, 0, 0, 0, 0x40, 0, 0, 0b1010})) << "all equal";
  // Mean 1, σ 2, a bin is 3 wide: 4 is one bin above the middle, the others are in it. Codes 2 2 2 3.
  EXPECT_EQ(bytes(Quantizer::kTwoBitSixSigma, {0, 0, 0, 4}),
            (Bytes{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x40, 0b11101010}));
  // The mean magnitude of 1, 2, 3, 2 is 2, 0x40000000.
  EXPECT_EQ(bytes(Quantizer::kSign, {0, -4, 0, 0}), (Bytes{0, 0, 0, 0x40, 0b0010}));
}

// Of a NaN or an infinity its whole block shows, and the one beside it is as if nothing were.
TEST(Quantized, ZerosTinyNumbersAndWhatIsNotFinite) {
  for (const QuantizerFacts& of : Words<Quantizer>::all) {
    SCOPED_TRACE(of.word);
    const Codec of_four{Quantized{of.value, 4}}, of_three{Quantized{of.value, 3}};
    EXPECT_EQ(sent_of(of_four, {0, -0.f, 0, 0, 0, -0.f}), Row(6, 0));
    const float tiny = std::numeric_limits<float>::denorm_min();
    for (const float found : sent_of(of_four, {tiny, -tiny, 3 * tiny, 0})) {
      EXPECT_TRUE(std::isfinite(found));
      EXPECT_LE(std::abs(found), 3 * tiny);
    }
    for (const float bad : {NAN, -NAN, INFINITY, -INFINITY}) {
      const Row found = sent_of(of_three, {1, bad, 0, 1, -1, 1});
      for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(found[i])) << i;
      EXPECT_EQ(Row(found.begin() + 3, found.end()), sent_of(of_three, {1, -1, 1}));
    }
  }
}

double student_t(RandomStream& stream) {
  double squares = 0;
  for (int i = 0; i < 4; ++i) squares += std::pow(stream.normal(), 2);
  return stream.normal() / std::sqrt(squares / 4);
}

double laplace(RandomStream& stream) {
  const double half = stream.uniform() - 0.5;
  return std::copysign(std::log1p(-2 * std::abs(half)), half);
}

// Squared, relative.
double error_of(const Row& sent, const Row& row) {
  double error = 0, squares = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    error += std::pow(double{sent[i]} - row[i], 2);
    squares += std::pow(row[i], 2);
  }
  return error / squares;
}

// The 64 largest of each of 256 chunks of 4096, as SparseLoCo sends them. The figures are those of a script
// of its own in NumPy; equally full bins have 0.117, 0.103 and 0.159, and 5 % of the signs wrong.
TEST(TwoBit, HasItsErrorAndNoWrongSignInWhatTopKKeeps) {
  // Errors in two bits, and of six sigma where all chunks are one block; Student's t varies with the largest.
  const std::tuple<const char*, double (*)(RandomStream&), double, double, double> cases[] = {
      {"Gauss", [](RandomStream& stream) { return stream.normal(); }, 0.0054, 0.0123, 0.08},
      {"Laplace", laplace, 0.0175, 0.0370, 0.08},
      {"Student t, 4", student_t, 0.081, 0.227, 0.3}};
  for (const auto& [distribution, draw, two_bit, six_sigma, tolerance] : cases) {
    SCOPED_TRACE(distribution);
    RandomStream stream(3, Purpose::kInitialWeights, 0);
    Row kept;
    for (int chunk = 0; chunk < 256; ++chunk) {
      Row columns(4096);
      for (float& column : columns) column = static_cast<float>(draw(stream));
      std::nth_element(columns.begin(), columns.begin() + 64, columns.end(),
                       [](float a, float b) { return std::abs(a) > std::abs(b); });
      kept.insert(kept.end(), columns.begin(), columns.begin() + 64);
    }
    const Row sent = sent_of({Quantized{Quantizer::kTwoBit, 64}}, kept),
              in_one_block = sent_of({Quantized{Quantizer::kTwoBitSixSigma, 256 * 64}}, kept);
    EXPECT_NEAR(error_of(sent, kept), two_bit, tolerance * two_bit);
    EXPECT_NEAR(error_of(in_one_block, kept), six_sigma, tolerance * six_sigma);
    for (std::size_t i = 0; i < kept.size(); ++i) ASSERT_GT(sent[i] * kept[i], 0) << i;
  }
}

// Without decay nothing is lost: after each round what was sent and what is kept add up to what was to be
// sent. In eighths that fp32 holds exactly, but for the cosines and the factors.
TEST(Feedback, ClassicLosesNothing) {
  for (auto [codec, rounding] : {std::pair{Codec{Quantized{Quantizer::kInt4, 5}}, 1e-5},
                                 {Codec{TopK{8, 2, Wire::kFp32}}, 1e-5},
                                 {Codec{RandomMask{0.5, Wire::kFp32}}, 1e-5},
                                 {Codec{DctTopK{8, 4, Wire::kFp32, {{4, 5}}}}, 2e-5},
                                 {Codec{LowRank{1, Wire::kFp32, Wire::kFp32, 1, {{4, 5}}}}, 1e-4}}) {
    codec.feedback = Feedback::kClassic;
    Row error(20, 0);
    std::vector<double> asked(20, 0), sent(20, 0);
    for (std::uint32_t round = 0; round < 8; ++round) {
      Row row = uneven_row(20, round);
      for (float& value : row) value = std::round(8 * value) / 8;
      const MessageFormat format({"row", codec, {}}, 20, round);  // each draws its own columns
      const Row part = read_row(Message(format, RowSource{row.data(), nullptr}).encoded(error.data()));
      for (std::size_t i = 0; i < 20; ++i) {
        asked[i] += row[i], sent[i] += part[i];
        EXPECT_NEAR(sent[i] + error[i], asked[i], rounding) << to_string(codec) << " round " << round;
      }
    }
  }
}

TEST(Feedback, NeedsItsRowAndNoOtherHasOne) {
  const Row row = {1, 2};
  Row error(2, 0);
  EXPECT_THROW(message_of({Quantized{}, Feedback::kEf21}, row).encoded(), std::logic_error);
  EXPECT_THROW(message_of({Quantized{}}, row).encoded(error.data()), std::logic_error);
}

}  // namespace longhaul::quantized_test
