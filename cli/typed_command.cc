#include "cli/typed_command.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "core/base/ranges.h"

namespace longhaul {
namespace {

constexpr char kOptionsEnd[] = "--";

bool has_no_meaning(unsigned char letter) {
  return std::isalnum(letter) != 0 || letter >= 0x80 || std::strchr("_@%+=:,./-", letter) != nullptr;
}

bool begins_with(const std::string& text, const std::string& beginning) {
  return text.compare(0, beginning.size(), beginning) == 0;
}

// "--out=DIR", or "-oDIR" of an option with one letter.
bool has_value_inside(const std::string& word, const std::string& option) {
  const bool is_short = option.size() == 2;
  return word.size() > option.size() && begins_with(word, is_short ? option : option + "=");
}

}  // namespace

std::string shell_word(const std::string& word) {
  const bool is_plain = std::all_of(word.begin(), word.end(), [](char letter) {
    return has_no_meaning(static_cast<unsigned char>(letter));
  });
  if (is_plain && !word.empty()) return word;
  std::string quoted = "'";
  for (const char letter : word) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

std::vector<std::string> without_options(const std::vector<std::string>& command,
                                         const std::vector<std::string>& values,
                                         const std::vector<std::string>& flags) {
  std::vector<std::string> left;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] == kOptionsEnd) {
      left.insert(left.end(), command.begin() + static_cast<std::ptrdiff_t>(i), command.end());
      break;
    }
    const auto is_with_value = [&](const std::string& option) {
      return has_value_inside(command[i], option);
    };
    if (contains(values, command[i]))
      ++i;  // its value goes too
    else if (!contains(flags, command[i]) && !any_of(values, is_with_value) && !any_of(flags, is_with_value))
      left.push_back(command[i]);
  }
  return left;
}

std::string resuming_command(const std::vector<std::string>& command, const std::string& folder_option,
                             const std::string& folder, std::vector<std::string> values) {
  values.insert(values.end(), {"--out", "--output", "-o"});
  std::vector<std::string> words = without_options(command, values, {"--resume", "--overwrite"});
  // Behind "--" all words are names of files.
  const auto end = std::find(words.begin(), words.end(), kOptionsEnd);
  const std::vector<std::string> added = {folder_option, folder, "--resume"};
  words.insert(end, added.begin(), added.end());
  return shell_line(words);
}

}  // namespace longhaul
