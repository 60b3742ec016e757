#include "core/scenario/corpora.h"

#include <fmt/core.h>

#include <filesystem>

namespace longhaul {

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
