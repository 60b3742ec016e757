// Means that are rounded on their way, against what members send at each hop, chunk by chunk in float64.
#include "trainer/codecs/reduction.h"

#include <map>
#include <utility>

#include "tests/unit/trainer/codec_support.h"

namespace longhaul::reduction_test {

using Vector = std::vector<double>;

constexpr std::size_t kBlockColumns = 1024;

// Whole numbers of so many levels in blocks; `from` is a multiple of a block in the row.
void quantize(Vector& row, double largest) {
  for (std::size_t begin = 0; begin < row.size(); begin += kBlockColumns) {
    const std::size_t end = std::min(row.size(), begin + kBlockColumns);
    double scale = 0;
    for (std::size_t i = begin; i < end; ++i) scale = std::max(scale, std::abs(row[i]) / largest);
    for (std::size_t i = begin; i < end && scale > 0; ++i) row[i] = std::nearbyint(row[i] / scale) * scale;
  }
}

void add(const Vector& from, std::size_t begin, Vector& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[begin + i];
}

Vector mean_reference(std::vector<Vector> rows, Reduction reduction, double largest) {
  const std::size_t members = rows.size(), columns = rows[0].size(),
                    blocks = (columns + kBlockColumns - 1) / kBlockColumns;
  Vector mean(columns);
  if (reduction != Reduction::kRing) {
    for (Vector& row : rows) quantize(row, largest), add(row, 0, mean);
    for (double& value : mean) value /= static_cast<double>(members);
    if (reduction == Reduction::kTwoShot) quantize(mean, largest);
    return mean;
  }
  for (std::size_t chunk = 0; chunk < members; ++chunk) {
    const std::size_t begin = chunk * blocks / members * kBlockColumns,
                      end = std::min(columns, (chunk + 1) * blocks / members * kBlockColumns);
    Vector sum(end - begin);
    add(rows[chunk], begin, sum);
    for (std::size_t hop = 1; hop < members; ++hop) {
      quantize(sum, largest);
      add(rows[(chunk + hop) % members], begin, sum);
    }
    quantize(sum, largest);
    for (std::size_t i = begin; i < end; ++i) mean[i] = sum[i - begin] / static_cast<double>(members);
  }
  return mean;
}

Codec int4_by(Reduction reduction) {
  Codec codec(Quantized{Quantizer::kInt4, static_cast<int>(kBlockColumns)});
  codec.reduction = reduction;
  return codec;
}

Row mean_by_code(Reduction reduction, const std::vector<Row>& rows, float* server_errors = nullptr) {
  const Codec codec = int4_by(reduction);
  std::vector<Message> messages;
  for (const Row& row : rows) messages.push_back(message_of(contributed_as(codec), row).encoded());
  const auto columns = static_cast<std::int64_t>(rows[0].size());
  if (reduction != Reduction::kOnce)
    return reduced_mean(
        codec, columns, static_cast<int>(rows.size()),
        [&](std::int64_t begin, std::int64_t end, float* out) {
          for (const Message& message : messages) {
            message.read_places(begin, end, out);
            out += end - begin;
          }
        },
        server_errors);
  std::vector<const Message*> all;
  for (const Message& message : messages) all.push_back(&message);
  Row mean(rows[0].size());
  for (std::int64_t begin = 0; begin < columns; begin += kBlock)
    mean_of(all, begin, std::min(columns, begin + kBlock), mean.data() + begin);
  return mean;
}

double norm_of_difference(const Vector& a, const Vector& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

// Relative errors of the mean for int4 in blocks of 1024 where pairs have a correlation of 0.05, from a
// program of its own on plain vectors: where what is sent is rounded decides how far the mean is off.
TEST(Reduction, HasTheErrorsOfPlainVectors) {
  const std::map<Reduction, std::pair<double, double>> expected = {// of 8 and of 32 members
                                                                   {Reduction::kOnce, {0.12, 0.09}},
                                                                   {Reduction::kTwoShot, {0.19, 0.17}},
                                                                   {Reduction::kRing, {0.30, 0.56}}};
  for (const std::uint32_t members : {8, 32}) {
    Row shared(members * 4096 + 700);
    RandomStream common(5, Purpose::kInitialWeights, 0);
    for (float& value : shared) value = static_cast<float>(std::sqrt(0.05) * common.normal());
    std::vector<Row> rows(members, shared);
    std::vector<Vector> plain;
    Vector exact(shared.size());
    for (std::uint32_t member = 0; member < members; ++member) {
      RandomStream own(5, Purpose::kInitialWeights, member + 1);
      for (float& value : rows[member]) value += static_cast<float>(std::sqrt(0.95) * own.normal());
      plain.emplace_back(rows[member].begin(), rows[member].end());
      add(plain.back(), 0, exact);
    }
    for (double& value : exact) value /= members;
    const double norm = norm_of_difference(exact, Vector(exact.size()));
    for (const auto& [reduction, errors] : expected) {
      SCOPED_TRACE(word_of(reduction) + std::string(" of ") + std::to_string(members));
      const Row found = mean_by_code(reduction, rows);
      const Vector mean(found.begin(), found.end()), slow = mean_reference(plain, reduction, 7);
      EXPECT_NEAR(norm_of_difference(mean, exact) / norm, members == 8 ? errors.first : errors.second, 0.01);
      // A tie of float32 may go another way in float64, and is carried on by later hops: few do.
      EXPECT_LT(norm_of_difference(mean, slow) / norm, reduction == Reduction::kRing ? 0.02 : 0.003);
    }
  }
}

// int4 with a scale of 1 by hand, two members, two blocks of 1024: chunk 0 begins at member 0, chunk 1 at 1.
TEST(Reduction, RoundsWhereTheBytesDo) {
  std::vector<Row> rows(2, Row(2048, 0));
  for (const std::size_t block : {0, 1024}) {
    rows[0][block] = rows[1][block] = 7;
    rows[0][block + 1] = 1.25f;  // sent as 1
    rows[1][block + 1] = 1.75f;  // sent as 2
  }
  const auto second = [&](Reduction reduction) {
    const Row mean = mean_by_code(reduction, rows);
    return Row{mean[1], mean[1025]};
  };
  EXPECT_EQ(second(Reduction::kOnce), (Row{1.5f, 1.5f}));
  EXPECT_EQ(second(Reduction::kTwoShot), (Row{2, 2})) << "1.5, a tie, to the even 2";
  // Sums 1 + 1.75 and 2 + 1.25 with a scale of 14 / 7: 2 and 4, halved. What is added is not rounded before:
  // 1 + 2 would be a tie of 2 and 4, and go to 4.
  EXPECT_EQ(second(Reduction::kRing), (Row{1, 2}));
}

// The same rows twice: what the first mean left out comes with the second, so that both together are exact.
// Each server's half begins with a block, so that the second half of 700 columns has a scale of its own.
TEST(Reduction, ServersFeedBackWhatTheirMeansLeftOut) {
  std::vector<Row> rows(2, Row(1400, 0));
  for (const std::size_t half : {0, 700}) {
    rows[0][half] = rows[1][half] = half == 0 ? 6 : 14;  // in the first block, whose scale is 2
    rows[0][half + 1] = half == 0 ? 4 : 2;
    rows[1][half + 1] = 4;
  }
  Row errors(1400);
  const Row first = mean_by_code(Reduction::kServers, rows, errors.data());
  const float left_out = errors[1];
  const Row second = mean_by_code(Reduction::kServers, rows, errors.data());
  EXPECT_FLOAT_EQ(first[1], 5 * 6.f / 7) << "4 is nearest to five sevenths of 6";
  EXPECT_FLOAT_EQ(left_out, 4 - 5 * 6.f / 7);
  EXPECT_EQ(first[701], 4) << "3 with a scale of 2, a tie, to the even one";
  EXPECT_EQ(second[701], 2) << "and 3 - 1";
  for (const std::size_t i : {0, 1, 700, 701})
    EXPECT_NEAR(first[i] + second[i] + errors[i], rows[0][i] + rows[1][i], 1e-6) << i;
  EXPECT_THROW(mean_by_code(Reduction::kServers, rows), std::logic_error) << "without the servers' errors";
}

TEST(Reduction, OneMemberAloneSendsNothing) {
  const std::vector<Row> rows = {{7, 1.25f}};
  EXPECT_EQ(mean_by_code(Reduction::kRing, rows), rows[0]);
  EXPECT_EQ(mean_by_code(Reduction::kTwoShot, rows), (Row{7, 1}));
  EXPECT_THROW(reduced_mean(int4_by(Reduction::kOnce), 2, 1, {}), std::logic_error);
}

// Columns [2, 5) and [8, 10) of ten, in places 0 … 4.
TEST(Message, IsReadByPlacesAcrossItsRanges) {
  const Row row = {9, 9, 1, 2, 3, 9, 9, 9, 4, 5};
  const Message message(MessageFormat({"row", {Wire::kFp32}, {{2, 5}, {8, 10}}}, 10), {row.data(), nullptr});
  Row found(3);
  message.encoded().read_places(1, 4, found.data());
  EXPECT_EQ(found, (Row{2, 3, 4}));
}

}  // namespace longhaul::reduction_test
