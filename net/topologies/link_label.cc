#include "net/topologies/link_label.h"

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <cctype>
#include <cmath>
#include <map>
#include <vector>

#include "core/base/index.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

constexpr double kSame = 0.03;  // "OC-48 (2.5 Gbps)"

struct Token {
  enum Kind { kNumber, kWord, kSymbol } kind;
  std::string text;
};

bool is_digit(char letter) {
  return std::isdigit(static_cast<unsigned char>(letter)) != 0;
}

bool is_letter(char letter) {
  return std::isalpha(static_cast<unsigned char>(letter)) != 0;
}

// Numbers, words and single symbols, without blanks. A comma is part of a number: "2,5".
std::vector<Token> tokens_of(std::string label) {
  for (const auto& [sign, letters] : {std::pair("×", " x "),
                                      {"≤", "<"},
                                      {"≥", ">"},
                                      {"≈", "~"},
                                      {"–", "-"},
                                      {"—", "-"},
                                      {"\u00a0", " "},
                                      {"\u2009", " "},
                                      {"\u202f", " "},
                                      {"’", "'"}})
    boost::algorithm::replace_all(label, sign, letters);
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < label.size();) {
    const std::size_t begin = at++;
    const char first = label[begin];
    if (is_digit(first)) {
      while (at < label.size() && (is_digit(label[at]) || ((label[at] == '.' || label[at] == ',') &&
                                                           at + 1 < label.size() && is_digit(label[at + 1]))))
        ++at;
      tokens.push_back({Token::kNumber, label.substr(begin, at - begin)});
    } else if (is_letter(first)) {
      const bool is_times = (first == 'x' || first == 'X') && begin > 0 && is_digit(label[begin - 1]);
      while (!is_times && at < label.size() && is_letter(label[at])) ++at;
      tokens.push_back({Token::kWord, label.substr(begin, at - begin)});
    } else if (std::isspace(static_cast<unsigned char>(first)) == 0) {
      tokens.push_back({Token::kSymbol, std::string(1, first)});
    }
  }
  return tokens;
}

// "1.000" and "2.500" are one and two and a half in some countries, and thousands in others. Other digits in
// the last two places ("2.488 Gbps", "155.520 Mbps") are written where thousandths are meant.
bool may_be_thousands(const std::string& text) {
  const std::size_t point = text.find('.');
  return point != std::string::npos && point <= 3 && text[0] != '0' && text.size() - point == 4 &&
         text.compare(text.size() - 2, 2, "00") == 0;
}

// None for "1,000" and "1.000".
std::optional<double> number_in(std::string text) {
  const std::size_t comma = text.find(',');
  if (comma != std::string::npos) {
    if (text.size() - comma > 3) return std::nullopt;
    text[comma] = '.';
  } else if (may_be_thousands(text)) {
    return std::nullopt;
  }
  return parse_number<double>(text);
}

// Goes through a label once. `is_doubtful` where a rate is there that must not be taken as it is.
class LabelReader {
 public:
  explicit LabelReader(const std::string& label) : tokens_(tokens_of(label)) {}

  std::optional<double> rate() {
    std::optional<double> found;
    for (at_ = 0; at_ < tokens_.size();) {
      const std::size_t begin = at_;
      std::optional<double> one = signal();
      if (!one) one = ethernet();
      if (!one) one = number_and_unit();
      if (!one) {
        at_ = begin + 1;
        continue;
      }
      *one *= times_before(begin);
      if (is_symbol(at_, "+") || is_times(at_) || (found && std::abs(*found - *one) > kSame * *one))
        is_doubtful_ = true;
      if (!found) found = one;
    }
    return is_doubtful_ ? std::nullopt : found;
  }

 private:
  bool is_kind(std::size_t i, Token::Kind kind) const {
    return i < tokens_.size() && tokens_[i].kind == kind;
  }
  bool is_symbol(std::size_t i, const char* text) const {
    return is_kind(i, Token::kSymbol) && tokens_[i].text == text;
  }
  std::string word(std::size_t i) const {
    return is_kind(i, Token::kWord) ? boost::algorithm::to_lower_copy(tokens_[i].text) : "";
  }
  bool is_times(std::size_t i) const { return word(i) == "x" || is_symbol(i, "*"); }

  // "OC-48c", "STM 16", "E3", "DS-3".
  std::optional<double> signal() {
    static const std::map<std::string, double> levels = {{"oc", 51.84e6}, {"stm", 155.52e6}};
    static const std::map<std::string, double> plesiochronous = {
        {"e1", 2.048e6},  {"e3", 34.368e6}, {"e4", 139.264e6}, {"t1", 1.544e6},
        {"t3", 44.736e6}, {"ds1", 1.544e6}, {"ds3", 44.736e6}};
    const std::string name = word(at_);
    const std::size_t place = at_ + (is_symbol(at_ + 1, "-") ? 2 : 1);
    if (name.empty() || !is_kind(place, Token::kNumber)) return std::nullopt;
    const auto level = levels.find(name);
    const auto rate = plesiochronous.find(name + tokens_[place].text);
    if (level == levels.end() && (rate == plesiochronous.end() || std::islower(tokens_[at_].text[0]) != 0))
      return std::nullopt;
    at_ = place + 1;
    if (level == levels.end()) return rate->second;
    if (word(at_) == "c") ++at_;
    const std::optional<double> count = number_in(tokens_[place].text);
    if (!count || !(*count > 0)) return std::nullopt;
    return *count * level->second;
  }

  // Without a number: "GigE", "Fast Ethernet".
  std::optional<double> ethernet() {
    const std::string name = word(at_);
    if (name == "fast" && word(at_ + 1) == "ethernet") return at_ += 2, 100e6;
    if (is_kind(at_, Token::kWord) && tokens_[at_].text == "FE") return ++at_, 100e6;  // not Santa Fe
    if (name == "gbe" || name == "gige" || (name == "ge" && tokens_[at_].text == "GE")) return ++at_, 1e9;
    if (name == "gigabit" && word(at_ + 1) == "ethernet") return at_ += 2, 1e9;
    return std::nullopt;
  }

  std::optional<double> number_and_unit() {
    if (!is_kind(at_, Token::kNumber)) return std::nullopt;
    const std::size_t number = at_;
    ++at_;
    if (is_symbol(at_, "-") && is_kind(at_ + 1, Token::kWord)) ++at_;
    const std::optional<double> unit = read_unit();
    if (!unit) return std::nullopt;
    const std::optional<double> value = number_in(tokens_[number].text);
    if (!value || !(*value > 0) || ends_thousands(number)) is_doubtful_ = true;
    return value.value_or(0) * *unit;
  }

  // "500" of "1 500 Mbps" and "1'500 Mbps".
  bool ends_thousands(std::size_t number) const {
    const std::size_t before = number - (number > 0 && is_symbol(number - 1, "'") ? 2 : 1);
    return number > 0 && before < number && is_kind(before, Token::kNumber) &&
           tokens_[number].text.size() >= 3 && is_digit(tokens_[number].text[2]);
  }

  std::optional<double> read_unit() {
    static const std::map<char, double> prefixes = {{'k', 1e3}, {'m', 1e6}, {'g', 1e9}, {'t', 1e12}};
    const std::string name = word(at_);
    if (name.empty() || prefixes.count(name[0]) == 0) return std::nullopt;
    const std::string rest = name.substr(1), &written = tokens_[at_].text;
    const double prefix = prefixes.at(name[0]);
    const bool has_small_prefix = written[0] == 'm' || written[0] == 'g' || written[0] == 't';
    if (rest.empty() && !has_small_prefix) return ++at_, prefix;  // "10G"; "10 m" is a length
    if (rest == "e" || rest == "be" ||
        (prefix == 1e9 && (rest == "ig" || rest == "ige" || rest == "igabit"))) {
      at_ += word(at_ + 1) == "ethernet" ? 2u : 1u;
      return prefix;
    }
    const bool is_bits = rest == "b" || rest == "bit" || rest == "bits" || rest == "bps" || rest == "bitps";
    if (!is_bits) return std::nullopt;
    ++at_;
    const bool is_all_large = written == boost::algorithm::to_upper_copy(written);
    if (written[1] == 'B' && !(rest == "bps" && is_all_large)) is_doubtful_ = true;
    if (is_symbol(at_, "/") && (word(at_ + 1) == "s" || word(at_ + 1) == "sec")) at_ += 2;
    return prefix;
  }

  // 4 before "OC-3" in "4 x OC-3"; 1 without such. A range, a bound and "N x" are doubtful.
  double times_before(std::size_t begin) {
    if (begin == 0) return 1;
    const std::size_t before = begin - 1;
    if (is_times(before)) {
      const std::optional<double> count = before > 0 && is_kind(before - 1, Token::kNumber)
                                              ? number_in(tokens_[before - 1].text)
                                              : std::nullopt;
      if (!count || !(*count > 0)) is_doubtful_ = true;
      return count.value_or(1);
    }
    const std::string name = word(before);
    const bool is_range = is_kind(begin, Token::kNumber) &&
                          (is_symbol(before, "-") || is_symbol(before, "/")) && before > 0 &&
                          is_kind(before - 1, Token::kNumber);
    const bool is_bound = is_symbol(before, "<") || is_symbol(before, ">") || is_symbol(before, "=") ||
                          is_symbol(before, "~") || name == "to" || name == "max" || name == "min" ||
                          name == "nx";
    if (is_range || is_bound) is_doubtful_ = true;
    return 1;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  bool is_doubtful_ = false;
};

}  // namespace

std::optional<double> rate_in_label(const std::string& label) {
  return LabelReader(label).rate();
}

}  // namespace longhaul
