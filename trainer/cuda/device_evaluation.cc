#include "trainer/cuda/device_evaluation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/index.h"
#include "trainer/codecs/message.h"
#include "trainer/cuda/row_kernels.h"
#include "trainer/ranks/chained_sum.h"

namespace longhaul {
namespace {

std::vector<std::int64_t> tokens_of(const std::vector<Batch>& batches) {
  std::vector<std::int64_t> tokens;
  for (const Batch& batch : batches) tokens.insert(tokens.end(), batch.tokens.begin(), batch.tokens.end());
  return tokens;
}

// Numbers of the tables that do not depend on the sequences.
struct Sizes {
  std::int64_t mean, squares, sums;
  Sizes(const TrainSpec& train, const std::vector<Batch>& batches)
      : mean(batches.empty() ? 0 : train.model.parameters()),
        squares(std::min(mean, kChunk)),
        sums((mean + kBlock - 1) / kBlock) {}
};

}  // namespace

std::int64_t DeviceEvaluation::bytes(const TrainSpec& train, const std::vector<Batch>& batches,
                                     std::int64_t replicas) {
  const Sizes sizes(train, batches);
  std::int64_t tokens = 0;
  for (const Batch& batch : batches) tokens += static_cast<std::int64_t>(batch.tokens.size());
  return 8 * (tokens + static_cast<std::int64_t>(batches.size()) * replicas + sizes.squares + sizes.sums) +
         4 * sizes.mean + static_cast<std::int64_t>(sizeof(int));
}

DeviceEvaluation::DeviceEvaluation(const TrainSpec& train, const Boundaries& boundaries,
                                   const std::vector<Batch>& batches, const CardTables& tables, int replicas,
                                   bool together, const MemoryPlan& memory)
    : tables_(tables),
      memory_(memory),
      parameters_(train.model.parameters()),
      replicas_(replicas),
      together_(together),
      tokens_(tokens_of(batches)),
      losses_(batches.size() * as_index(replicas)),
      mean_(as_index(Sizes(train, batches).mean)),
      squares_(as_index(Sizes(train, batches).squares)),
      sums_(as_index(Sizes(train, batches).sums)),
      differs_(1),
      decoder_(train.model, Device::kCuda, train.precision, memory.activations.evaluation, boundaries),
      plain_(false) {
  std::int64_t begin = 0;
  for (const Batch& batch : batches) {
    sequences_.push_back(batch.sequences);
    begins_.push_back(begin);
    begin += static_cast<std::int64_t>(batch.tokens.size());
  }
}

bool DeviceEvaluation::are_equal(Slot slot) {
  differs_.set({0});
  plain_.run([&] {
    over_columns_on_device(FindDifferences{reinterpret_cast<const std::uint32_t*>(tables_.of(slot)),
                                           replicas_, parameters_, differs_.get()},
                           parameters_, current_cuda_stream());
  });
  return differs_.read().front() == 0;
}

double DeviceEvaluation::spread(Slot slot) {
  plain_.run([&] {
    for (std::int64_t first = 0; first < parameters_; first += kChunk) {
      const std::int64_t count = std::min(parameters_ - first, kChunk);
      over_columns_on_device(
          CenterColumns{tables_.of(slot), replicas_, parameters_, first, mean_.get(), squares_.get()}, count,
          current_cuda_stream());
      over_columns_on_device(SumBlocks{squares_.get(), sums_.get() + first / kBlock, count, kBlock},
                             (count + kBlock - 1) / kBlock, current_cuda_stream());
    }
  });
  const std::vector<double> sums = sums_.read();
  const double total = std::accumulate(sums.begin(), sums.end(), 0.);
  return std::sqrt(total / (static_cast<double>(replicas_) * static_cast<double>(parameters_)));
}

std::vector<double> DeviceEvaluation::losses(Slot slot, Of of, const std::vector<std::size_t>& numbers) {
  const float* const rows = of == Of::kMean ? mean_.get() : tables_.of(slot);
  const int count = of == Of::kEach ? replicas_ : 1, each = together_ ? count : 1;
  const auto decode = [&] {
    for (std::size_t at = 0; at < numbers.size(); ++at)
      for (int row = 0; row < count; row += each)
        decoder_.run({rows + row * parameters_, nullptr, tokens_.get() + begins_[numbers[at]], 0,
                      losses_.get() + as_index(count) * at + as_index(row), each, sequences_[numbers[at]]});
  };
  std::vector<double> losses(numbers.size() * as_index(count));
  with_memory(memory_, [&] {
    plain_.run(decode);
    losses_.read(losses.data(), losses.size());
  });
  return losses;
}

}  // namespace longhaul
