#include "core/base/number_text.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace longhaul {
namespace {

bool is_digit(const char* at, const char* end) {
  return at != end && *at >= '0' && *at <= '9';
}

// Behind the word, in small or capital letters; `at` where it does not stand there.
const char* after_word(const char* at, const char* end, const char* word) {
  const char* next = at;
  for (; *word != '\0'; ++word, ++next)
    if (next == end || std::tolower(static_cast<unsigned char>(*next)) != *word) return at;
  return next;
}

const char* after_infinity_or_nan(const char* at, const char* end, double& value) {
  if (const char* next = after_word(at, end, "inf"); next != at) {
    value = std::numeric_limits<double>::infinity();
    return after_word(next, end, "inity");
  }
  const char* next = after_word(at, end, "nan");
  if (next == at) return at;
  value = std::numeric_limits<double>::quiet_NaN();
  if (next == end || *next != '(') return next;
  for (const char* inside = next + 1; inside != end; ++inside) {
    if (*inside == ')') return inside + 1;
    if (std::isalnum(static_cast<unsigned char>(*inside)) == 0 && *inside != '_') break;
  }
  return next;
}

// digits × 10^exponent, as far as 64 bits hold the digits.
struct Decimal {
  std::uint64_t digits = 0;
  int exponent = 0;
  bool is_whole = true;  // no digit is left out
  bool is_zero = true;

  void add(char digit, bool is_behind_point) {
    constexpr std::uint64_t kFull = 1'000'000'000'000'000'000;
    if (digit != '0') is_zero = false;
    if (digits < kFull) {
      digits = 10 * digits + static_cast<std::uint64_t>(digit - '0');
      exponent -= is_behind_point ? 1 : 0;
    } else {
      is_whole = is_whole && digit == '0';
      exponent += is_behind_point ? 0 : 1;
    }
  }

  // One rounding of an exact product or quotient (Clinger 1990, How to read floating point numbers
  // accurately).
  bool is_exact() const {
    return is_whole && digits <= (std::uint64_t{1} << 53) && exponent >= -22 && exponent <= 22;
  }
  double exact() const {
    constexpr std::array<double, 23> kTens = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const double whole = static_cast<double>(digits);
    return exponent < 0 ? whole / kTens[static_cast<std::size_t>(-exponent)]
                        : whole * kTens[static_cast<std::size_t>(exponent)];
  }
};

}  // namespace

namespace portable {

std::from_chars_result read_double(const char* begin, const char* end, double& value) {
  const bool is_negative = begin != end && *begin == '-';
  const char* at = begin + (is_negative ? 1 : 0);
  double found = 0;
  if (const char* next = after_infinity_or_nan(at, end, found); next != at) {
    value = is_negative ? -found : found;
    return {next, std::errc()};
  }
  Decimal decimal;
  bool any = false;
  for (; is_digit(at, end); ++at, any = true) decimal.add(*at, false);
  if (at != end && *at == '.' && (any || is_digit(at + 1, end)))
    for (++at; is_digit(at, end); ++at, any = true) decimal.add(*at, true);
  if (!any) return {begin, std::errc::invalid_argument};
  if (at != end && (*at == 'e' || *at == 'E')) {
    const char* digits = at + 1;
    const bool is_small = digits != end && *digits == '-';
    if (digits != end && (*digits == '-' || *digits == '+')) ++digits;
    if (is_digit(digits, end)) {
      int exponent = 0;
      for (at = digits; is_digit(at, end); ++at)
        if (exponent < 100'000) exponent = 10 * exponent + (*at - '0');
      decimal.exponent += is_small ? -exponent : exponent;
    }
  }
  found = decimal.is_exact() ? decimal.exact()
                             : std::strtod(std::string(begin + (is_negative ? 1 : 0), at).c_str(), nullptr);
  if (std::isinf(found) || (found == 0 && !decimal.is_zero)) return {at, std::errc::result_out_of_range};
  value = is_negative ? -found : found;
  return {at, std::errc()};
}

std::string shortest_text(double value) {
  // {fmt} has the same digits, and its own choice between fixed and scientific.
  const std::string sign = std::signbit(value) ? "-" : "", plain = fmt::format("{}", std::abs(value));
  const std::size_t e = plain.find('e'), point = plain.find('.');
  const std::string mantissa = plain.substr(0, e);
  std::string digits;
  for (const char c : mantissa)
    if (c != '.') digits += c;
  int exponent = e == std::string::npos ? 0 : std::stoi(plain.substr(e + 1));
  if (point != std::string::npos) exponent -= static_cast<int>(mantissa.size() - point) - 1;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back(), ++exponent;
  if (digits == "0") return sign + "0";
  const int count = static_cast<int>(digits.size()), scientific = exponent + count - 1;
  std::string fixed;
  if (exponent >= 0) {  // whole: all its digits, not zeros behind the shortest ones
    std::array<char, 400> whole;
    fixed.assign(whole.data(), static_cast<std::size_t>(
                                   std::snprintf(whole.data(), whole.size(), "%.0f", std::abs(value))));
  } else if (scientific >= 0) {
    fixed = digits.substr(0, static_cast<std::size_t>(scientific) + 1) + "." +
            digits.substr(static_cast<std::size_t>(scientific) + 1);
  } else {
    fixed = "0." + std::string(static_cast<std::size_t>(-scientific - 1), '0') + digits;
  }
  const std::string short_one = digits.substr(0, 1) + (count > 1 ? "." + digits.substr(1) : "") +
                                fmt::format("e{}{:02}", scientific < 0 ? '-' : '+', std::abs(scientific));
  return sign + (fixed.size() <= short_one.size() ? fixed : short_one);
}

}  // namespace portable

#ifdef __cpp_lib_to_chars

std::from_chars_result read_double(const char* begin, const char* end, double& value) {
  return std::from_chars(begin, end, value);
}

std::string shortest_text(double value) {
  std::array<char, 32> text;
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  return std::string(text.data(), result.ptr);
}

#else

std::from_chars_result read_double(const char* begin, const char* end, double& value) {
  return portable::read_double(begin, end, value);
}

std::string shortest_text(double value) {
  return portable::shortest_text(value);
}

#endif

}  // namespace longhaul
