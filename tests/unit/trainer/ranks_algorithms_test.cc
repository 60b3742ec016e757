// Sums, spreads and transfers of rows that are spread over ranks, against the same rows in one process.
#include "tests/unit/trainer/operation_support.h"
#include "tests/unit/trainer/thread_ranks.h"
#include "trainer/ranks/chained_sum.h"
#include "trainer/ranks/row_transfer.h"
#include "trainer/weight_spread.h"

namespace longhaul::ranks_algorithms_test {

TEST(Ranks, ABroadcastReachesEveryoneFromAnyone) {
  for (int size : {1, 2, 3, 4, 5, 8})
    for (int from = 0; from < size; ++from)
      ThreadRanks::run(size, [&](Ranks& ranks) {
        EXPECT_EQ(broadcast(ranks, from, std::to_string(ranks.rank())), std::to_string(from));
      });
}

TEST(Ranks, GatherIsInTheOrderOfTheRanks) {
  ThreadRanks::run(5, [](Ranks& ranks) {
    const double rank = ranks.rank();
    EXPECT_EQ(gather(ranks, std::vector<double>{rank, 10 * rank}),
              (std::vector<double>{0, 0, 1, 10, 2, 20, 3, 30, 4, 40}));
    const std::string text(static_cast<std::size_t>(ranks.rank()), 'x');
    EXPECT_EQ(gather(ranks, text), (std::vector<std::string>{"", "x", "xx", "xxx", "xxxx"}));
    EXPECT_FALSE(all_of(ranks, ranks.rank() != 3));
    EXPECT_TRUE(all_of(ranks, true));
  });
}

// Rows of all magnitudes, so that another order of summing would show.
void fill_row(float* row, std::int64_t columns, int replica) {
  RandomStream stream(7, Purpose::kInitialWeights, static_cast<std::uint32_t>(replica));
  for (std::int64_t i = 0; i < columns; ++i)
    row[i] = static_cast<float>(stream.normal() * (i % 3 == 0 ? 1e4 : 1));
  row[0] = -0.f;  // a sum that began with +0 would lose its sign
}

Arena filled(int replicas, std::int64_t columns, RowBlock held) {
  Arena arena({Slot::kWeights}, replicas, columns, held);
  for (int r = held.first; r < held.end; ++r) fill_row(arena.row(Slot::kWeights, r), columns, r);
  return arena;
}

// Views of the rows, or what a codec makes of them.
std::vector<Message> messages_of(const Arena& arena, const Codec& codec) {
  std::vector<Message> messages;
  for (int r = arena.held().first; r < arena.held().end; ++r) {
    const Message row(MessageFormat({"row", codec, {}}, arena.parameters()),
                      RowSource{arena.row(Slot::kWeights, r), nullptr});
    messages.push_back(codec.is_plain() ? row : row.encoded());
  }
  return messages;
}

std::vector<const Message*> pointers_to(const std::vector<Message>& messages) {
  std::vector<const Message*> all;
  for (const Message& message : messages) all.push_back(&message);
  return all;
}

bool has_bits(const std::vector<float>& found, const std::vector<float>& expected) {
  return std::memcmp(found.data(), expected.data(), expected.size() * sizeof(float)) == 0;
}

void expect_same_mean_and_spread(int size, int replicas, std::int64_t columns, Wire wire) {
  const Arena whole = filled(replicas, columns, {0, replicas});
  const std::vector<int> all = whole.held().replicas();
  const std::vector<Message> messages = messages_of(whole, {wire});
  std::vector<float> expected(static_cast<std::size_t>(columns)), exact(expected.size());
  for (std::int64_t at = 0; at < columns; at += kBlock)
    mean_of(pointers_to(messages), at, std::min(columns, at + kBlock), expected.data() + at);
  const double spread =
      weight_spread(one_rank(), whole, Slot::kWeights, all, *make_loop_backend(), exact.data());
  ThreadRanks::run(size, [&](Ranks& ranks) {
    const Arena arena = filled(replicas, columns, block_of(ranks, replicas));
    std::vector<float> mean(expected.size());
    const auto backend = make_loop_backend();
    for (std::int64_t begin = 0; begin < columns; begin += kChunk) {
      const ColumnRange chunk{begin, std::min(columns, begin + kChunk)};
      const std::vector<float> part = mean_over_ranks(ranks, *backend, messages_of(arena, {wire}), chunk);
      std::copy(part.begin(), part.end(), mean.begin() + begin);
    }
    EXPECT_TRUE(has_bits(mean, expected)) << "rank " << ranks.rank() << " of " << size;
    EXPECT_EQ(weight_spread(ranks, arena, Slot::kWeights, all, *backend, mean.data()), spread);
    EXPECT_TRUE(has_bits(mean, exact)) << "rank " << ranks.rank() << " of " << size;
  });
}

TEST(MeanOverRanks, AndTheSpreadHaveTheBitsOfOneProcess) {
  for (Wire wire : {Wire::kFp32, Wire::kBf16, Wire::kFp16})
    for (int size : {2, 3, 6}) expect_same_mean_and_spread(size, 6, 3 * kBlock + 5, wire);
  expect_same_mean_and_spread(2, 2, kChunk + 300000, Wire::kFp32);
}

TEST(MeanOverRanks, OfSendersHasTheBitsOfOneProcess) {
  constexpr std::int64_t kColumns = (1 << 18) + 5000;  // more than travel at once
  for (const Codec& codec : {Codec{TopK{4096, 64, Quantizer::kTwoBit}}, Codec{DctTopK{}}}) {
    const std::vector<Message> messages = messages_of(filled(6, kColumns, {0, 6}), codec);
    const std::vector<float> expected = mean_of_senders(pointers_to(messages));
    for (const int size : {2, 3})
      ThreadRanks::run(size, [&](Ranks& ranks) {
        const Arena arena = filled(6, kColumns, block_of(ranks, 6));
        EXPECT_TRUE(has_bits(mean_of_senders_over_ranks(ranks, messages_of(arena, codec)), expected))
            << to_string(codec) << ", rank " << ranks.rank() << " of " << size;
      });
  }
}

TEST(SpreadOverRanks, EqualRowsAreFoundAndOneBitIsNotOverlooked) {
  constexpr int kReplicas = 6;
  constexpr std::int64_t kColumns = 2000;
  for (int other = -1; other < kReplicas; ++other)
    ThreadRanks::run(3, [&](Ranks& ranks) {
      Arena arena({Slot::kWeights}, kReplicas, kColumns, block_of(ranks, kReplicas));
      for (int r = arena.held().first; r < arena.held().end; ++r) {
        fill_row(arena.row(Slot::kWeights, r), kColumns, 0);
        if (r == other) arena.row(Slot::kWeights, r)[kColumns - 1] += 1;
      }
      std::vector<float> row(kColumns);
      std::vector<int> others = {0, 1, 2, 3, 4, 5};
      EXPECT_EQ(rows_are_equal(ranks, arena, Slot::kWeights, others, row.data()), other == -1);
      others.erase(std::remove(others.begin(), others.end(), other), others.end());
      EXPECT_TRUE(rows_are_equal(ranks, arena, Slot::kWeights, others, row.data())) << other;
    });
}

// Longer than a piece of a transfer (4 MB).
TEST(RowTransfer, RowsGoToTheFirstRankAndComeBack) {
  constexpr int kReplicas = 4;
  constexpr std::int64_t kColumns = 600001;
  const Arena whole = filled(kReplicas, kColumns, {0, kReplicas});
  const char* bytes = reinterpret_cast<const char*>(whole.row(Slot::kWeights, 0));
  const std::string table(bytes, kReplicas * kColumns * sizeof(float));
  ThreadRanks::run(2, [&](Ranks& ranks) {
    const RowBlock held = block_of(ranks, kReplicas);
    const Arena arena = filled(kReplicas, kColumns, held);
    std::string collected;
    collect_rows(ranks, arena, Slot::kWeights, [&](const void* data, std::size_t count) {
      collected.append(static_cast<const char*>(data), count);
    });
    EXPECT_EQ(collected == table, ranks.is_first());
    Arena empty({Slot::kWeights}, kReplicas, kColumns, held);
    distribute_rows(ranks, empty, Slot::kWeights, [&](std::int64_t from, std::int64_t count, void* out) {
      std::memcpy(out, table.data() + from, static_cast<std::size_t>(count));
    });
    EXPECT_EQ(std::memcmp(empty.row(Slot::kWeights, held.first), arena.row(Slot::kWeights, held.first),
                          static_cast<std::size_t>(held.size() * kColumns) * sizeof(float)),
              0);
  });
}

}  // namespace longhaul::ranks_algorithms_test
