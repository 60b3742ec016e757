#include "trainer/data/windows.h"

#include <algorithm>

#include "core/random.h"

namespace longhaul {
namespace {

Batch draw(const std::vector<Token>& tokens, int context, int sequences, RandomStream& stream) {
  const auto length = static_cast<std::size_t>(context) + 1;
  Batch batch;
  batch.sequences = sequences;
  batch.tokens.reserve(length * static_cast<std::size_t>(sequences));
  for (int i = 0; i < sequences; ++i) {
    const auto start = static_cast<std::ptrdiff_t>(stream.below(tokens.size() - length + 1));
    const auto first = tokens.begin() + start;
    batch.tokens.insert(batch.tokens.end(), first, first + static_cast<std::ptrdiff_t>(length));
  }
  return batch;
}

}  // namespace

Batch training_batch(const std::vector<Token>& tokens, const TrainSpec& train, std::uint64_t seed,
                     int replica, int step) {
  RandomStream stream(seed, Purpose::kTrainingData, static_cast<std::uint32_t>(replica),
                      static_cast<std::uint32_t>(step));
  return draw(tokens, train.model.context, train.batch, stream);
}

std::vector<Batch> validation_batches(const std::vector<Token>& tokens, const TrainSpec& train,
                                      std::uint64_t seed) {
  // A fixed size: neither the batch of the training nor the number of threads changes the sums.
  constexpr int kSequences = 8;
  RandomStream stream(seed, Purpose::kEvaluationData);
  std::vector<Batch> batches;
  for (int left = train.evaluate_sequences; left > 0; left -= kSequences)
    batches.push_back(draw(tokens, train.model.context, std::min(left, kSequences), stream));
  return batches;
}

}  // namespace longhaul
