#include "trainer/data/windows.h"

#include "core/index.h"
#include "core/random.h"

namespace longhaul {
namespace {

void append_window(const std::vector<Token>& tokens, std::size_t start, std::size_t length, Batch& batch) {
  const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(start);
  batch.tokens.insert(batch.tokens.end(), first, first + static_cast<std::ptrdiff_t>(length));
  ++batch.sequences;
}

}  // namespace

Batch training_batch(const std::vector<Token>& tokens, const TrainSpec& train, std::uint64_t seed,
                     int replica, int step) {
  RandomStream stream(seed, Purpose::kTrainingData, static_cast<std::uint32_t>(replica),
                      static_cast<std::uint32_t>(step));
  const auto length = as_index(train.model.context) + 1;
  Batch batch;
  batch.tokens.reserve(length * as_index(train.batch));
  for (int i = 0; i < train.batch; ++i)
    append_window(tokens, as_index(stream.below(tokens.size() - length + 1)), length, batch);
  return batch;
}

std::vector<std::size_t> validation_starts(std::size_t tokens, int context, int sequences) {
  const std::size_t length = as_index(context) + 1;
  std::vector<std::size_t> starts;
  if (sequences == 0) {
    for (std::size_t start = 0; start + length <= tokens; start += length - 1) starts.push_back(start);
    return starts;
  }
  const std::size_t places = tokens - length + 1, count = as_index(sequences);
  for (std::size_t i = 0; i < count; ++i) starts.push_back((2 * i + 1) * places / (2 * count));
  return starts;
}

std::vector<Batch> validation_batches(const std::vector<Token>& tokens, const TrainSpec& train) {
  const auto length = as_index(train.model.context) + 1;
  std::vector<Batch> batches;
  for (const std::size_t start :
       validation_starts(tokens.size(), train.model.context, train.evaluate_sequences)) {
    if (batches.empty() || batches.back().sequences == kValidationBatch) batches.emplace_back();
    append_window(tokens, start, length, batches.back());
  }
  return batches;
}

}  // namespace longhaul
