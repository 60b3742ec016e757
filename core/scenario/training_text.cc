#include "core/scenario/training_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

std::string first_bytes(const std::string& file, std::size_t most) {
  std::ifstream in(file, std::ios::binary);
  std::string bytes(most, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(most));
  bytes.resize(as_index(std::max<std::streamsize>(0, in.gcount())));
  return bytes;
}

// By its first bytes: RFC 1952, bzip2, the .xz format, RFC 8878, Apache Parquet, ZIP. Its bytes would be
// trained on.
void check_is_plain(const std::string& file, const std::string& path) {
  static const std::pair<const char*, std::string> kinds[] = {{"compressed with gzip", "\x1f\x8b"},
                                                              {"compressed with bzip2", "BZh"},
                                                              {"compressed with xz", "\xfd\x37zXZ"},
                                                              {"compressed with zstd", "\x28\xb5\x2f\xfd"},
                                                              {"compressed with lz4", "\x04\x22\x4d\x18"},
                                                              {"a zip archive", "PK\x03\x04"},
                                                              {"parquet", "PAR1"}};
  const std::string head = first_bytes(file, 10);
  for (const auto& [kind, first] : kinds) {
    if (head.rfind(first, 0) != 0 || (first == "BZh" && head.substr(4) != "1AY&SY")) continue;
    throw InputError(path, fmt::format("{} is {}", file, kind), "plain text, which is trained on as bytes",
                     "unpack it, or make token shards of it: python -m longhaul.shards");
  }
}

// Of the beginning, which a tokenizer of another vocabulary fills with tokens that are too large. The rest is
// looked at when it is read.
void check_tokens(const std::string& file, std::size_t files, int vocabulary, const std::string& path) {
  constexpr std::size_t kMost = std::size_t{64} << 20,
                        kLeast = std::size_t{1} << 16;  // bytes of all files, of one
  const std::string bytes = first_bytes(file, std::max(kLeast, kMost / files));
  for (std::size_t at = kShardHeader * sizeof(std::int32_t); at + 1 < bytes.size(); at += kShardTokenBytes) {
    const int token = static_cast<unsigned char>(bytes[at]) + 256 * static_cast<unsigned char>(bytes[at + 1]);
    if (token >= vocabulary)
      throw InputError({"", path, fmt::format("{} has token {}", file, token),
                        fmt::format("tokens below train.model.vocabulary, {}", vocabulary),
                        "raise the vocabulary to the tokenizer's"});
  }
}

std::size_t tokens_of_files(const Case& config, const std::vector<std::string>& globs,
                            const std::string& path) {
  std::size_t tokens = 0;
  const std::vector<std::string> files = files_of(globs, config.folder, path);
  for (const std::string& file : files) {
    if (config.train->data.kind == DataSpec::Kind::kShards) {
      tokens += tokens_of_shard(file, path);
      check_tokens(file, files.size(), config.train->model.vocabulary, path);
    } else {
      check_is_plain(file, path);
      tokens += std::filesystem::file_size(file);
    }
  }
  return tokens;
}

}  // namespace

std::vector<std::string> json_lines_in(const Case& config) {
  std::vector<std::string> found;
  if (config.train->data.kind != DataSpec::Kind::kText) return found;
  constexpr std::size_t kLongest = std::size_t{1} << 20;
  for (const std::string& file : files_of(config.train->data.globs, config.folder, "train.data.text")) {
    const std::string head = first_bytes(file, kLongest);
    const std::string line = head.substr(0, head.find('\n'));
    if (!line.empty() && line[0] == '{' && Json::parse(line, nullptr, false).is_object())
      found.push_back(file);
  }
  return found;
}

std::vector<std::string> files_of(const std::vector<std::string>& globs, const std::string& folder,
                                  const std::string& path) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < globs.size(); ++i) {
    const std::vector<std::string> files = files_matching(globs[i], folder);
    if (files.empty())
      throw InputError(element_path(path, i), "\"" + globs[i] + "\" matches no file",
                       "a path or a glob that matches files", "relative patterns start in " + folder);
    all.insert(all.end(), files.begin(), files.end());
  }
  return all;
}

std::size_t held_out_tokens(std::size_t tokens, double fraction) {
  return as_index(std::llround(fraction * static_cast<double>(tokens)));
}

void check_part_length(const char* part, std::size_t tokens, int context) {
  const std::size_t needed = as_index(context) + 1;
  if (tokens >= needed) return;
  throw InputError({"", "train.data", fmt::format("the {} part of the text has {} tokens", part, tokens),
                    fmt::format("at least context + 1, {}", needed),
                    "a longer text, a shorter context or another validation_fraction"});
}

void check_own_parts(std::size_t tokens, const TrainSpec& train) {
  if (tokens / as_index(train.shards) >= as_index(train.model.context) + 1) return;
  throw InputError("train.data", fmt::format("a text of {} tokens has {} parts", tokens, train.shards),
                   fmt::format("parts of {} tokens at least", train.model.context + 1),
                   "a longer text, or replicas that share theirs");
}

void check_synthetic(const TrainSpec& train) {
  const int vocabulary = train.model.vocabulary, branching = train.data.synthetic.branching;
  if (vocabulary > 65536)
    throw InputError("train.model.vocabulary", "found " + std::to_string(vocabulary) + " with synthetic data",
                     "at most 65536");
  if (branching > vocabulary)
    throw InputError("train.data.synthetic.branching", "found " + std::to_string(branching),
                     "at most the vocabulary, " + std::to_string(vocabulary));
}

void check_training_text(const Case& config) {
  const TrainSpec& train = *config.train;
  const DataSpec& data = train.data;
  std::size_t tokens = 0, held_out = 0;
  if (data.kind == DataSpec::Kind::kCorpus) return;
  if (data.kind == DataSpec::Kind::kSynthetic) {
    check_synthetic(train);
    tokens = as_index(data.synthetic.tokens);
  } else {
    const bool is_text = data.kind == DataSpec::Kind::kText;
    tokens = tokens_of_files(config, data.globs, is_text ? "train.data.text" : "train.data.shards");
  }
  if (data.validation.empty()) {
    held_out = held_out_tokens(tokens, train.validation_fraction);
    tokens -= held_out;
  } else {
    held_out = tokens_of_files(config, data.validation, "train.data.validation");
  }
  check_part_length("training", tokens, train.model.context);
  check_part_length("validation", held_out, train.model.context);
  check_own_parts(tokens, train);
}

std::size_t tokens_of_shard(const std::string& file, const std::string& path) {
  std::ifstream in(file, std::ios::binary);
  std::error_code has_no_size;  // as a pipe
  const std::uintmax_t bytes = std::filesystem::file_size(file, has_no_size);
  if (!in || has_no_size) throw InputError(path, file + " cannot be read", "llm.c token shards");
  std::array<std::int32_t, kShardHeader> header{};
  if (!in.read(reinterpret_cast<char*>(header.data()), sizeof header))
    throw InputError(
        {"", path, file + " is shorter than a shard's header of 1024 bytes", "llm.c token shards", ""});
  if (header[0] != kShardMagic || header[1] != kShardVersion)
    throw InputError(path,
                     file + " begins with " + std::to_string(header[0]) + ", " + std::to_string(header[1]),
                     "a shard of llm.c: 20240520, 1", "other tokenized files have to be converted");
  if (header[2] < 0)
    throw InputError(
        {"", path, file + " says it holds " + std::to_string(header[2]) + " tokens", "0 or more", ""});
  const std::size_t said = as_index(header[2]);
  const std::uintmax_t there = (bytes - sizeof header) / kShardTokenBytes;
  if (there < said)
    throw InputError({"", path, fmt::format("{} ends after {} of {} tokens", file, there, said),
                      "a whole shard", "was its download or conversion interrupted?"});
  if (bytes > sizeof header + said * kShardTokenBytes)
    throw InputError(path, fmt::format("{} goes on after the {} tokens that it says it holds", file, said),
                     "a shard of llm.c, 2 bytes a token", "was it written twice, or with wider tokens?");
  return said;
}

InputError missing_corpus(const InstalledCorpus& corpus, const std::string& folder) {
  return InputError("train.data.corpus", fmt::format("{} has no file of {}", folder, corpus.name),
                    corpus.contents,
                    fmt::format("run {} (as root), or name files with train.data.text", corpus.script));
}

void check_corpus_is_here(const std::string& name) {
  std::error_code unreadable;
  for (const InstalledCorpus& corpus : {kLinuxSource, kDebianProse})
    if (name == corpus.name && !std::filesystem::is_directory(corpus.folder, unreadable))
      throw missing_corpus(corpus, corpus.folder);
}

double installed_bytes(const std::string& name) {
  for (const InstalledCorpus& corpus : {kLinuxSource, kDebianProse})
    if (name == corpus.name) return corpus.bytes;
  return 0;
}

}  // namespace longhaul
