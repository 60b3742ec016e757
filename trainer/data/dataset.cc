#include "trainer/data/dataset.h"

#include <cmath>

#include "core/errors.h"
#include "trainer/data/markov_source.h"
#include "trainer/data/system_headers.h"
#include "trainer/data/text_files.h"
#include "trainer/data/token_shards.h"

namespace longhaul {
namespace {

TokenText synthetic_text(const TrainSpec& train, std::uint64_t seed, std::optional<double>& entropy) {
  const int vocabulary = train.model.vocabulary, branching = train.data.synthetic.branching;
  if (vocabulary > 65536)
    throw InputError({"", "train.model.vocabulary",
                      "found " + std::to_string(vocabulary) + " with synthetic data", "at most 65536", ""});
  if (branching > vocabulary)
    throw InputError({"", "train.data.synthetic.branching", "found " + std::to_string(branching),
                      "at most the vocabulary, " + std::to_string(vocabulary), ""});
  const MarkovSource source(vocabulary, branching, seed);
  entropy = source.entropy_rate();
  return source.text(train.data.synthetic.tokens);
}

TokenText text_of(const Case& one, std::optional<double>& entropy) {
  const DataSpec& data = one.train->data;
  switch (data.kind) {
    case DataSpec::Kind::kCorpus:
      return read_system_headers();
    case DataSpec::Kind::kText:
      return read_bytes(files_of(data.globs, one.folder, "train.data.text"));
    case DataSpec::Kind::kShards:
      return read_token_shards(files_of(data.globs, one.folder, "train.data.shards"),
                               one.train->model.vocabulary);
    case DataSpec::Kind::kSynthetic:
      break;
  }
  return synthetic_text(*one.train, one.seed, entropy);
}

void check_length(const char* part, std::size_t tokens, int context) {
  const std::size_t needed = static_cast<std::size_t>(context) + 1;
  if (tokens >= needed) return;
  throw InputError(
      {"", "train.data",
       "the " + std::string(part) + " part of the text has " + std::to_string(tokens) + " tokens",
       "at least context + 1, " + std::to_string(needed),
       "a longer text, a shorter context or another validation_fraction"});
}

}  // namespace

Dataset load_dataset(const Case& one) {
  Dataset dataset;
  TokenText text = text_of(one, dataset.source_entropy);
  if (text.tokens.empty())
    throw InputError({"", "train.data", "the text is empty", "files with text in them", ""});
  const auto held_out = static_cast<std::ptrdiff_t>(
      std::llround(one.train->validation_fraction * static_cast<double>(text.tokens.size())));
  dataset.hash = text.hash;
  dataset.validation.assign(text.tokens.end() - held_out, text.tokens.end());
  text.tokens.resize(text.tokens.size() - static_cast<std::size_t>(held_out));
  dataset.training = std::move(text.tokens);
  check_length("training", dataset.training.size(), one.train->model.context);
  check_length("validation", dataset.validation.size(), one.train->model.context);
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

}  // namespace longhaul
