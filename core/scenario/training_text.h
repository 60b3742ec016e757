// What a training's text is known to be before it is read: which files, and how long each part is, from the
// files' sizes and the shards' headers alone. The same checks as in reading, before anything has started.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "core/scenario/case.h"

namespace longhaul {

// The files of all patterns, each sorted. Throws InputError, path PATH[i], for a pattern that matches
// nothing.
std::vector<std::string> files_of(const std::vector<std::string>& globs, const std::string& folder,
                                  const std::string& path);

// How many of `tokens` tokens are the held-out end of a text.
std::size_t held_out_tokens(std::size_t tokens, double fraction);

// Each part needs context + 1 tokens; `part` is "training" or "validation". Throws InputError.
void check_part_length(const char* part, std::size_t tokens, int context);

// Where each replica trains on a part of its own (TrainSpec::shards), of the training part. Throws
// InputError.
void check_own_parts(std::size_t tokens, const TrainSpec& train);

// Throws InputError where a synthetic source cannot have the vocabulary.
void check_synthetic(const TrainSpec& train);

// All of that for a case that trains, as methods' trained_case() has it, and broken shards, tokens beyond the
// vocabulary at the beginning of a shard, and text that is compressed. A corpus is not looked at: its files
// are found by the trainer.
void check_training_text(const Case& config);

// Of the text that is trained on as bytes, the files whose first line is a JSON object.
std::vector<std::string> json_lines_in(const Case& config);

// Token shards in the format of llm.c (dev/data/data_common.py): a header of 256 int32, little end first
// (magic 20240520, version 1, number of tokens, zeros), then the tokens as uint16.
//
// The trainer reads them; what their headers and sizes say is known before anything starts.

constexpr std::int32_t kShardMagic = 20240520;
constexpr std::int32_t kShardVersion = 1;
constexpr std::size_t kShardHeader = 256;  // int32
constexpr std::size_t kShardTokenBytes = 2;

// The number of tokens in a whole shard, from its header and size. Throws InputError, at the scenario's
// `path`, for what is no shard, and for a file that is shorter or longer than its header says.
std::size_t tokens_of_shard(const std::string& file, const std::string& path);

// The corpora that a script puts on a machine: where their files are, and how they come there.

struct InstalledCorpus {
  const char* name;      // in train.data.corpus
  const char* folder;    // where the script puts it
  const char* contents;  // in words
  const char* script;    // run as root
  double bytes;          // of its text, about
};

constexpr InstalledCorpus kLinuxSource{"linux-source-6.1", "/usr/src/linux-source-6.1",
                                       "Debian's linux-source-6.1, unpacked there", "scripts/linux_source.sh",
                                       163e6};
constexpr InstalledCorpus kDebianProse{"debian-prose-12", "/usr/local/share/debian-prose-12",
                                       "the prose of Debian 12's documentation packages",
                                       "scripts/debian_prose.sh", 66e6};

// That `folder` has no file of it. Path train.data.corpus.
InputError missing_corpus(const InstalledCorpus& corpus, const std::string& folder);

// Throws missing_corpus() where `name` is one of these and its folder does not exist. What lies in the folder
// is not looked at.
void check_corpus_is_here(const std::string& name);

// Of its text, about; 0 for a corpus that no script brings.
double installed_bytes(const std::string& name);

}  // namespace longhaul
