// What the field calls things that a scenario or a plan calls otherwise: behind "did you mean", one table.
#pragma once

#include <string>
#include <vector>

#include "core/base/options.h"

namespace longhaul {

struct OptionSynonym {
  const char* word;  // in small letters, with _ between words
  const char* path;  // of the option, as option_on_path() reads it; "train.device=cuda" is a value of one
  const char* remark;
};

// Of several entries for a word the first one that fits is taken.
const std::vector<OptionSynonym>& option_synonyms();

// "did you mean "rate"?" if the table has `word` for one of `candidates`, else "".
std::string synonym_among(const std::string& word, const std::vector<std::string>& candidates);

// "that is network.variation.background here" if the table has `word` for an option of `root`, else "".
std::string place_of_synonym(const std::string& word, const Node& root);

}  // namespace longhaul
