// The built-in corpora: real text that Debian packages bring, cut into a training part and a held-out part.
//
// Which file is held out depends on a hash of its name alone, so that a file more or less moves no other from
// one part to the other. What both parts have in common is a matter of token_text.h.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/training_text.h"

namespace longhaul {

struct CorpusFile {
  std::string file;  // where it lies
  std::string name;  // inside the corpus
  bool is_held_out = false;
};

// "system-headers": every machine with Longhaul has them, because building it needs them. The headers of
// libstdc++ (c++/VERSION of the compiler that built Longhaul, and its part of the multiarch folder), of libc
// (its own ones beside `include`, named in the source; bits, sys, gnu of the multiarch folder) and of Linux
// (linux, asm-generic, asm), and no others: a package more changes nothing. Another version of one of the
// three does: losses compare within one hash only. Held out: `fraction` of the files, by the hash of their
// names. Sorted by name. Throws InputError (path train.data.corpus) where `include` holds none of them.
std::vector<CorpusFile> system_headers(double fraction, const std::string& include = "/usr/include");

// "linux-source-6.1": C sources, headers and documentation (.c .h .rst .txt .yaml) of the folders
// Documentation, fs, include, kernel, mm and net of Debian's package of that name, 165 MB. One version of the
// package has one hash on every machine. Held out: `fraction` of the folders, by the hash of their names,
// each with all files directly in it. Throws missing_corpus() where `folder` is not the unpacked source.
std::vector<CorpusFile> linux_source(double fraction, const std::string& folder = kLinuxSource.folder);

// "debian-prose-12": English paragraphs of 170 documentation packages of Debian 12, a file (.txt) for each,
// as scripts/debian_prose.sh writes them. A document is a package: `fraction` of them are held out, by the
// hash of their files' names, so that no page of a held-out manual is in the training part. Throws
// missing_corpus() where `folder` has none.
std::vector<CorpusFile> debian_prose(double fraction, const std::string& folder = kDebianProse.folder);

// Whether what has this name is held out: a hash of the name, as a number in [0, 1), is below `fraction`.
bool is_held_out(const std::string& name, double fraction);

}  // namespace longhaul
