#include "core/errors.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace longhaul {
namespace {

std::string message(const InputErrorParts& parts) {
  std::string text;
  if (!parts.file.empty()) text += parts.file + ": ";
  if (!parts.path.empty()) text += parts.path + ": ";
  text += parts.found;
  if (!parts.allowed.empty()) text += "; allowed: " + parts.allowed;
  if (!parts.hint.empty()) text += "; " + parts.hint;
  return text;
}

// Levenshtein distance, one row at a time.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row[b.size()];
}

// What people write who know a thing by another name, and what it is called here.
struct OtherName {
  const char *word, *name, *remark;
};
constexpr OtherName kOtherNames[] = {
    {"gpu", "cuda", ""},
    {"rtt", "delay", " (one way: half of the round trip)"},
    {"latency", "delay", " (one way)"},
    {"latency", "rtt", ""},
    {"bandwidth", "rate", ""},
    {"throughput", "rate", ""},
    {"float32", "fp32", ""},
    {"bfloat16", "bf16", ""},
    {"float16", "fp16", ""},
    {"half", "fp16", ""},
    {"learning_rate", "lr", ""},
    {"nodes", "replicas", ""},
    {"workers", "replicas", ""},
};

const OtherName* other_name(const std::string& word, const std::vector<std::string>& candidates) {
  for (const OtherName& other : kOtherNames)
    if (word == other.word && std::find(candidates.begin(), candidates.end(), other.name) != candidates.end())
      return &other;
  return nullptr;
}

}  // namespace

InputError::InputError(InputErrorParts parts)
    : std::runtime_error(message(parts)), parts_(std::move(parts)) {}

InputError::InputError(std::string path, std::string found, std::string allowed, std::string hint)
    : InputError({"", std::move(path), std::move(found), std::move(allowed), std::move(hint)}) {}

InputError InputError::in_file(const std::string& file) const {
  InputErrorParts parts = parts_;
  if (parts.file.empty()) parts.file = file;
  return InputError(parts);
}

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 2) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates,
                         const std::string& otherwise) {
  if (const OtherName* other = other_name(word, candidates))
    return fmt::format("did you mean \"{}\"{}?", other->name, other->remark);
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
