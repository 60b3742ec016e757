#include "trainer/ranks/chained_sum.h"

#include <algorithm>

#include "core/base/index.h"
#include "trainer/codecs/top_k.h"

namespace longhaul {
namespace {

constexpr std::int64_t kPiece = 1 << 18;  // columns that travel at once; a multiple of kBlock

std::int64_t pieces_of(std::int64_t count) {
  return (count + kPiece - 1) / kPiece;
}

// sum [i] += messages, in their order; the first message of the first rank stands there as it is.
void add_messages(const std::vector<Message>& messages, bool is_first, std::int64_t begin, std::int64_t end,
                  float* sum) {
  float next[kBlock];
  for (std::size_t m = 0; m < messages.size(); ++m) {
    if (is_first && m == 0) {
      messages[m].read(begin, end, sum);
      continue;
    }
    messages[m].read(begin, end, next);
    for (std::int64_t i = 0; i < end - begin; ++i) sum[i] += next[i];
  }
}

}  // namespace

void chained_sum(Ranks& ranks, std::int64_t count, std::size_t width, void* sum,
                 const std::function<void(std::int64_t, std::int64_t)>& add) {
  const auto at = [&](std::int64_t column) { return static_cast<char*>(sum) + as_index(column) * width; };
  const auto bytes = [&](std::int64_t begin) { return as_index(std::min(count - begin, kPiece)) * width; };
  std::vector<std::unique_ptr<Transfer>> coming, going;
  if (!ranks.is_first())
    for (std::int64_t begin = 0; begin < count; begin += kPiece)
      coming.push_back(ranks.receive(ranks.rank() - 1, kLockstep, at(begin), bytes(begin)));
  for (std::int64_t piece = 0; piece < pieces_of(count); ++piece) {
    const std::int64_t begin = piece * kPiece;
    if (!ranks.is_first()) coming[as_index(piece)]->wait();
    add(begin, std::min(count, begin + kPiece));
    if (!ranks.is_last()) going.push_back(ranks.send(ranks.rank() + 1, kLockstep, at(begin), bytes(begin)));
  }
  for (const auto& transfer : going) transfer->wait();
}

std::vector<float> mean_over_ranks(Ranks& ranks, Backend& backend, const std::vector<Message>& mine,
                                   const ColumnRange& chunk) {
  const auto divisor = static_cast<float>(static_cast<int>(mine.size()) * ranks.size());
  std::vector<float> mean(as_index(chunk.size()));
  chained_sum(ranks, chunk.size(), sizeof(float), mean.data(), [&](std::int64_t begin, std::int64_t end) {
    backend.for_each(static_cast<int>((end - begin + kBlock - 1) / kBlock), [&](int block) {
      const std::int64_t from = begin + block * kBlock, to = std::min(end, from + kBlock);
      add_messages(mine, ranks.is_first(), chunk.begin + from, chunk.begin + to, mean.data() + from);
      if (ranks.is_last())
        for (std::int64_t i = from; i < to; ++i) mean[as_index(i)] /= divisor;
    });
  });
  broadcast(ranks, ranks.size() - 1, mean.data(), mean.size() * sizeof(float));
  return mean;
}

std::vector<float> mean_of_senders_over_ranks(Ranks& ranks, const std::vector<Message>& mine) {
  const MessageFormat& format = mine.front().format();
  std::vector<std::vector<Kept>> kept;
  for (const Message& message : mine) kept.push_back(kept_by(message));
  std::vector<SenderSum> sums(as_index(format.columns));
  chained_sum(ranks, format.columns, sizeof(SenderSum), sums.data(),
              [&](std::int64_t begin, std::int64_t end) {
                for (const std::vector<Kept>& items : kept) add_kept(items, begin, end, sums.data());
              });
  std::vector<float> mean(sums.size());
  if (ranks.is_last()) mean = mean_of_sums(format, sums);
  broadcast(ranks, ranks.size() - 1, mean.data(), mean.size() * sizeof(float));
  return mean;
}

}  // namespace longhaul
