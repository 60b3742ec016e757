#include "core/base/errors.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>

#include "core/base/option_synonyms.h"
#include "core/base/printable.h"

namespace longhaul {
namespace {

std::string message(const InputErrorParts& parts) {
  std::string text;
  if (!parts.file.empty()) text += parts.file + ": ";
  if (!parts.path.empty()) text += parts.path + ": ";
  text += parts.found;
  if (!parts.allowed.empty()) text += "; allowed: " + parts.allowed;
  if (!parts.hint.empty()) text += "; " + parts.hint;
  text = printable(text);  // files, keys and values of any user's
  for (const InputErrorParts& other : parts.others) text += "\n" + message(other);
  return text;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Edit distance in which two neighbours that changed places count once; of a whole table, words are short.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> least(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      const std::size_t replace = least[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      least[i][j] = std::min({least[i - 1][j] + 1, least[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
    }
  }
  return least[a.size()][b.size()];
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Bytes of other alphabets are letters too.
bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}

std::string only(const std::string& text, bool (*is_kept)(char)) {
  std::string kept;
  std::copy_if(text.begin(), text.end(), std::back_inserter(kept), is_kept);
  return kept;
}

// One slip in four letters, at most three. Digits are none: of B200 and H200, or 6.1 and 6.2, each names a
// thing.
bool is_slip(const std::string& word, const std::string& candidate, std::size_t distance) {
  constexpr std::size_t kLettersOfASlip = 4, kMostSlips = 3;
  if (only(word, is_digit) != only(candidate, is_digit)) return false;
  const std::string letters = only(word, is_letter);
  if (!letters.empty() && letters == only(candidate, is_letter)) return true;  // other dashes, dots, blanks
  return distance <= std::min(kMostSlips, letters.size() / kLettersOfASlip);
}

// The candidate with the smallest edit distance to `word`, or "" if none is near enough to be a slip.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  const std::string written = lower_case(word);
  for (const std::string& candidate : candidates) {
    const std::string meant = lower_case(candidate);
    const std::size_t distance = edit_distance(written, meant);
    if (distance >= best_distance || !is_slip(written, meant, distance)) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

}  // namespace

InputError::InputError(InputErrorParts parts)
    : std::runtime_error(message(parts)), parts_(std::move(parts)) {}

InputError::InputError(std::string path, std::string found, std::string allowed, std::string hint)
    : InputError({"", std::move(path), std::move(found), std::move(allowed), std::move(hint)}) {}

InputError InputError::in_file(const std::string& file) const {
  InputErrorParts parts = parts_;
  if (parts.file.empty()) parts.file = file;
  for (InputErrorParts& other : parts.others)
    if (other.file.empty()) other.file = file;
  return InputError(parts);
}

InputError together(const std::vector<InputError>& errors) {
  InputErrorParts all = errors.front().parts();
  for (std::size_t i = 1; i < errors.size(); ++i) {
    InputErrorParts more = errors[i].parts();
    const std::vector<InputErrorParts> behind_it = std::move(more.others);
    more.others.clear();
    all.others.push_back(std::move(more));
    all.others.insert(all.others.end(), behind_it.begin(), behind_it.end());
  }
  return InputError(all);
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates,
                         const std::string& otherwise) {
  if (const std::string other = synonym_among(word, candidates); !other.empty()) return other;
  const std::string near = nearest(word, candidates);
  return near.empty() ? otherwise : fmt::format("did you mean \"{}\"?", near);
}

std::string join(const std::vector<std::string>& words, const std::string& separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

std::string join_some(std::vector<std::string> words, std::size_t most) {
  const std::size_t count = words.size();
  if (count <= most) return join(words);
  words.resize(most);
  return fmt::format("{} and {} more", join(words), count - most);
}

std::string enumeration(std::vector<std::string> words, const std::string& conjunction) {
  if (words.size() < 2) return join(words);
  const std::string last = words.back();
  words.pop_back();
  return fmt::format("{} {} {}", join(words), conjunction, last);
}

}  // namespace longhaul
