// The words of an enumeration, said once: beside the enumeration stands
//
//   template <> struct Words<Color> {
//     static constexpr Word<Color> all[] = {{Color::kRed, "red"}, {Color::kGreen, "green"}};
//   };
//
// Options, files and messages take them from there. An unknown word is an error everywhere.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/errors.h"

namespace longhaul {

template <class Enumeration>
struct Word {
  Enumeration value;
  const char* word;
};

template <class Enumeration>
struct Words;

template <class Enumeration>
std::vector<std::string> words_of() {
  std::vector<std::string> words;
  for (const Word<Enumeration>& known : Words<Enumeration>::all) words.push_back(known.word);
  return words;
}

// Throws std::logic_error for a value without a word.
template <class Enumeration>
const char* word_of(Enumeration value) {
  for (const Word<Enumeration>& known : Words<Enumeration>::all)
    if (known.value == value) return known.word;
  throw std::logic_error("an enumeration's value has no word");
}

// `path`: where the word stands. Throws InputError that names all words.
template <class Enumeration>
Enumeration from_word(const std::string& word, const std::string& path) {
  for (const Word<Enumeration>& known : Words<Enumeration>::all)
    if (word == known.word) return known.value;
  throw InputError(path, "found \"" + word + "\"", join(words_of<Enumeration>()));
}

}  // namespace longhaul
