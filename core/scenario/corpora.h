// The corpora that a script puts on a machine: where their files are, and how they come there.
#pragma once

#include <string>

#include "core/base/errors.h"

namespace longhaul {

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
