#include "trainer/weight_spread.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/base/index.h"
#include "trainer/codecs/message.h"
#include "trainer/ranks/chained_sum.h"

namespace longhaul {
namespace {

std::vector<int> held_of(const Arena& arena, std::vector<int> replicas) {
  replicas.erase(std::remove_if(replicas.begin(), replicas.end(),
                                [&](int replica) { return !arena.held().contains(replica); }),
                 replicas.end());
  return replicas;
}

// The columns `first` … first + count of the rows, in double, summed block by block.
class Chunk {
 public:
  Chunk(Ranks& ranks, const Arena& arena, Slot slot, const std::vector<int>& replicas, Backend& backend,
        std::int64_t first)
      : ranks_(ranks),
        arena_(arena),
        slot_(slot),
        replicas_(replicas.size()),
        held_(held_of(arena, replicas)),
        backend_(backend),
        first_(first),
        count_(std::min(arena.parameters() - first, kChunk)),
        center_(as_index(count_)),
        squares_(center_.size()) {}

  void find_center(float* mean) {
    sum_rows(center_, [](double value, double) { return value; });
    if (ranks_.is_last())
      for (double& value : center_) value /= static_cast<double>(replicas_);
    broadcast(ranks_, ranks_.size() - 1, center_.data(), center_.size() * sizeof(double));
    for (std::size_t i = 0; i < center_.size(); ++i) mean[i] = static_cast<float>(center_[i]);
  }

  // On the last rank: adds the sum of each block to `total`, in their order.
  void add_deviations(double& total) {
    sum_rows(squares_, [](double value, double center) { return (value - center) * (value - center); });
    if (!ranks_.is_last()) return;
    for (std::int64_t begin = 0; begin < count_; begin += kBlock) {
      double sum = 0;
      for (std::int64_t i = begin; i < std::min(count_, begin + kBlock); ++i) sum += squares_[as_index(i)];
      total += sum;
    }
  }

 private:
  template <typename Term>
  void sum_rows(std::vector<double>& sums, const Term& term) {
    chained_sum(ranks_, count_, sizeof(double), sums.data(), [&](std::int64_t begin, std::int64_t end) {
      backend_.for_each(static_cast<int>((end - begin + kBlock - 1) / kBlock), [&](int block) {
        const std::int64_t from = begin + block * kBlock, to = std::min(end, from + kBlock);
        for (const int r : held_) {
          const float* row = arena_.row(slot_, r) + first_;
          for (std::int64_t i = from; i < to; ++i) {
            const auto at = as_index(i);
            sums[at] += term(row[i], center_[at]);
          }
        }
      });
    });
  }

  Ranks& ranks_;
  const Arena& arena_;
  Slot slot_;
  std::size_t replicas_;
  std::vector<int> held_;
  Backend& backend_;
  std::int64_t first_, count_;
  std::vector<double> center_, squares_;
};

}  // namespace

bool rows_are_equal(Ranks& ranks, const Arena& arena, Slot slot, const std::vector<int>& replicas,
                    float* row) {
  const std::vector<int> held = held_of(arena, replicas);
  const std::size_t bytes = as_index(arena.parameters()) * sizeof(float);
  const auto differs_from = [&](const float* other) {
    return std::any_of(held.begin(), held.end(),
                       [&](int replica) { return std::memcmp(other, arena.row(slot, replica), bytes) != 0; });
  };
  if (!all_of(ranks, held.empty() || !differs_from(arena.row(slot, held.front())))) return false;
  if (arena.held().contains(replicas.front()))
    std::copy_n(arena.row(slot, replicas.front()), arena.parameters(), row);
  broadcast(ranks, holder_of(ranks, arena.replicas(), replicas.front()), row, bytes);
  return all_of(ranks, held.empty() || std::memcmp(row, arena.row(slot, held.front()), bytes) == 0);
}

double weight_spread(Ranks& ranks, const Arena& arena, Slot slot, const std::vector<int>& replicas,
                     Backend& backend, float* mean) {
  double total = 0;
  for (std::int64_t first = 0; first < arena.parameters(); first += kChunk) {
    Chunk chunk(ranks, arena, slot, replicas, backend, first);
    chunk.find_center(mean + first);
    chunk.add_deviations(total);
  }
  broadcast(ranks, ranks.size() - 1, &total, sizeof total);
  return std::sqrt(total / (static_cast<double>(replicas.size()) * static_cast<double>(arena.parameters())));
}

}  // namespace longhaul
