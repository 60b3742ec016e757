#include "analysis/text.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void add_new(const std::string& word, std::vector<std::string>& words) {
  if (!contains(words, word)) words.push_back(word);
}

std::string counted(std::size_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string named_few(const std::vector<std::string>& names, std::size_t most) {
  if (names.size() <= most) return join(names, "; ");
  const std::vector<std::string> few(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(most));
  return fmt::format("{}; and {} more", join(few, "; "), names.size() - most);
}

std::string last_key(const std::string& dotted) {
  return dotted.substr(dotted.rfind('.') + 1);
}

std::size_t width_of(const std::string& text) {
  return as_index(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string wrapped(const std::string& text, std::size_t width, const std::string& first,
                    const std::string& next) {
  std::string result, line = first;
  std::size_t start = 0;
  bool is_begun = false;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string word = text.substr(start, end - start);
    if (is_begun && width_of(line) + 1 + width_of(word) > width) {
      result += line + "\n";
      line = next;
      is_begun = false;
    }
    line += (is_begun ? " " : "") + word;
    is_begun = true;
    start = end + 1;
  }
  return result + line + "\n";
}

std::string markdown_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|')
      safe += "\\|";
    else if (c == '<')
      safe += "&lt;";
    else
      safe += c == '\n' || c == '\r' ? ' ' : c;
  }
  return safe;
}

std::string markdown_cell(const std::string& text) {
  return markdown_text(text) + " | ";
}

}  // namespace longhaul
