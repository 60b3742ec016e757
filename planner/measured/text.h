// Words, lines and numbers of what tools have printed. Texts are valid UTF-8 (documents.h).
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace longhaul::measured {

// A file is not as its tool wrote it. Only formats.cc catches it, and says of which file.
class Damaged : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

bool is_space(char c);
bool is_digit(char c);

// Without blanks at both ends; a no-break space is one, as spreadsheets write it.
std::string_view strip(std::string_view text);
// Without any of `characters` at both ends.
std::string_view strip(std::string_view text, std::string_view characters);
bool starts_with(std::string_view text, std::string_view begin);
bool ends_with(std::string_view text, std::string_view end);
bool contains(std::string_view text, std::string_view part);

// Latin, Greek and Cyrillic letters.
std::string lower_case(std::string_view text);

// Whether a character at `at` exists and is a letter or a digit of any alphabet.
bool has_letter_or_digit(std::string_view text, std::size_t at);
// "RTT (ms)" to "rtt_ms": in lower case, one _ for all that stands between letters and digits, none at the
// ends.
std::string identifier(std::string_view text);
std::size_t characters_in(std::string_view text);

// `text` at each newline; the last line may lack one.
std::vector<std::string_view> lines_of(std::string_view text);
// At every kind of line end that Unicode has, as \r and the separators of records.
std::vector<std::string_view> all_lines_of(std::string_view text);
// Words between blanks.
std::vector<std::string_view> words_of(std::string_view text);
std::vector<std::string> split(std::string_view text, char at);

// Digits with at most one point, perhaps a sign and an exponent, blanks around them. A number that no double
// holds is infinite.
std::optional<double> decimal(std::string_view text);
// The same; throw Damaged where the text is no number, or no integer.
double number_of_text(std::string_view text);
long long integer_of_text(std::string_view text);

// Each once, in the order of their first places.
std::vector<std::string> unique(const std::vector<std::string>& words);

}  // namespace longhaul::measured
