#include "trainer/data/dataset.h"

#include <cmath>

#include "core/base/errors.h"
#include "core/base/hash.h"
#include "core/base/index.h"
#include "core/base/random.h"
#include "core/scenario/training_text.h"
#include "trainer/data/corpus.h"
#include "trainer/data/token_text.h"

namespace longhaul {
namespace {

TokenText synthetic_text(const TrainSpec& train, std::uint64_t seed, std::optional<double>& entropy) {
  check_synthetic(train);
  const MarkovSource source(train.model.vocabulary, train.data.synthetic.branching, seed);
  entropy = source.entropy_rate();
  return source.text(train.data.synthetic.tokens);
}

std::vector<CorpusFile> corpus_files(const std::string& name, double fraction) {
  if (name == kLinuxSource.name) return linux_source(fraction);
  if (name == kDebianProse.name) return debian_prose(fraction);
  return system_headers(fraction);
}

Dataset corpus_dataset(const std::vector<CorpusFile>& files) {
  Dataset dataset;
  std::vector<std::string> training, held_out;
  for (const CorpusFile& file : files) (file.is_held_out ? held_out : training).push_back(file.file);
  TokenText text = read_bytes(training);
  TokenText validation = read_bytes(held_out, text.hash);
  dataset.hash = validation.hash;
  dataset.training = std::move(text.tokens);
  dataset.validation = std::move(validation.tokens);
  dataset.copied_tokens = remove_copied_stretches(dataset.training, dataset.validation);
  return dataset;
}

TokenText read_files(const Case& config, const std::vector<std::string>& globs, const std::string& path,
                     std::uint64_t hash = kFnvOffset) {
  const std::vector<std::string> files = files_of(globs, config.folder, path);
  if (config.train->data.kind == DataSpec::Kind::kText) return read_bytes(files, hash);
  return read_token_shards(files, config.train->model.vocabulary, path, hash);
}

Dataset with_validation_files(const Case& config, TokenText text) {
  TokenText validation =
      read_files(config, config.train->data.validation, "train.data.validation", text.hash);
  Dataset dataset;
  dataset.hash = validation.hash;
  dataset.training = std::move(text.tokens);
  dataset.validation = std::move(validation.tokens);
  return dataset;
}

Dataset with_held_out_end(TokenText text, double fraction) {
  Dataset dataset;
  const std::size_t held_out = held_out_tokens(text.tokens.size(), fraction);
  dataset.hash = text.hash;
  dataset.validation.assign(text.tokens.end() - static_cast<std::ptrdiff_t>(held_out), text.tokens.end());
  text.tokens.resize(text.tokens.size() - held_out);
  dataset.training = std::move(text.tokens);
  return dataset;
}

void check_not_empty(const TokenText& text) {
  if (text.tokens.empty()) throw InputError("train.data", "the text is empty", "files with text in them");
}

Dataset dataset_of(const Case& config) {
  const TrainSpec& train = *config.train;
  if (train.data.kind == DataSpec::Kind::kCorpus)
    return corpus_dataset(corpus_files(train.data.corpus, train.validation_fraction));
  if (train.data.kind == DataSpec::Kind::kSynthetic) {
    std::optional<double> entropy;
    Dataset dataset =
        with_held_out_end(synthetic_text(train, config.seed, entropy), train.validation_fraction);
    dataset.source_entropy = entropy;
    return dataset;
  }
  const bool is_text = train.data.kind == DataSpec::Kind::kText;
  TokenText text = read_files(config, train.data.globs, is_text ? "train.data.text" : "train.data.shards");
  check_not_empty(text);
  return train.data.validation.empty() ? with_held_out_end(std::move(text), train.validation_fraction)
                                       : with_validation_files(config, std::move(text));
}

}  // namespace

Dataset load_dataset(const Case& config) {
  Dataset dataset = dataset_of(config);
  check_part_length("training", dataset.training.size(), config.train->model.context);
  check_part_length("validation", dataset.validation.size(), config.train->model.context);
  return dataset;
}

double unigram_entropy(const std::vector<Token>& tokens) {
  std::vector<std::int64_t> counts(65536);
  for (Token token : tokens) ++counts[token];
  double entropy = 0;
  for (std::int64_t count : counts) {
    const double p = static_cast<double>(count) / static_cast<double>(tokens.size());
    if (count > 0) entropy -= p * std::log(p);
  }
  return entropy;
}

namespace {

void append_window(const std::vector<Token>& tokens, std::size_t start, std::size_t length, Batch& batch) {
  const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(start);
  batch.tokens.insert(batch.tokens.end(), first, first + static_cast<std::ptrdiff_t>(length));
  ++batch.sequences;
}

}  // namespace

Batch training_batch(const std::vector<Token>& tokens, const TrainSpec& train, std::uint64_t seed,
                     int replica, int step) {
  const auto length = as_index(train.model.context) + 1;
  const std::size_t shard = as_index(train.shards > 1 ? replica : 0), shards = as_index(train.shards),
                    begin = tokens.size() * shard / shards, end = tokens.size() * (shard + 1) / shards;
  Batch batch;
  batch.tokens.reserve(length * as_index(train.batch));
  for (int k = 0; k < train.streams; ++k) {
    RandomStream stream(seed, Purpose::kTrainingData, static_cast<std::uint32_t>(replica * train.streams + k),
                        static_cast<std::uint32_t>(step));
    for (int i = 0; i < train.batch / train.streams; ++i)
      append_window(tokens, begin + as_index(stream.below(end - begin - length + 1)), length, batch);
  }
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
