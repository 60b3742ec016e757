#include "cli/questions.h"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <sstream>

#include "core/errors.h"

namespace longhaul {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> words_of(std::string text) {
  std::replace(text.begin(), text.end(), ',', ' ');
  std::stringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
    if (!contains(words, word)) words.push_back(word);
  return words;
}

}  // namespace

// False where the default is meant.
bool Questions::ask(const std::string& question, const std::string& by_default, std::string& answer) {
  out_ << question << " [" << by_default << "]: " << std::flush;
  std::string line;
  if (!std::getline(in_, line)) return false;
  answer = trimmed(line);
  return !answer.empty();
}

std::string Questions::choice(const std::string& question, const std::vector<std::string>& allowed,
                              const std::string& by_default) {
  std::string answer;
  while (ask(question + " (" + join(allowed) + ")", by_default, answer)) {
    if (contains(allowed, answer)) return answer;
    out_ << "\"" << answer << "\" is none of " << join(allowed) << "\n";
  }
  return by_default;
}

std::vector<std::string> Questions::choices(const std::string& question,
                                            const std::vector<std::string>& allowed,
                                            const std::vector<std::string>& by_default) {
  std::string answer;
  while (ask(question + " (some of " + join(allowed) + ")", join(by_default), answer)) {
    const std::vector<std::string> words = words_of(answer);
    const auto unknown =
        std::find_if(words.begin(), words.end(), [&](const auto& word) { return !contains(allowed, word); });
    if (unknown == words.end() && !words.empty()) return words;
    out_ << "\"" << (words.empty() ? answer : *unknown) << "\" is none of " << join(allowed) << "\n";
  }
  return by_default;
}

int Questions::number(const std::string& question, int least, int most, int by_default) {
  std::string answer;
  while (ask(question, std::to_string(by_default), answer)) {
    int value = 0;
    const auto read = std::from_chars(answer.data(), answer.data() + answer.size(), value);
    if (read.ec == std::errc() && read.ptr == answer.data() + answer.size() && value >= least &&
        value <= most)
      return value;
    out_ << "\"" << answer << "\" is no number from " << least << " to " << most << "\n";
  }
  return by_default;
}

}  // namespace longhaul
