// What stands in for std::from_chars and std::to_chars of double, beside them.
#include "core/base/number_text.h"

#include <gtest/gtest.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

namespace longhaul::number_text_test {

#ifdef __cpp_lib_to_chars

std::string by_the_library(double value) {
  std::array<char, 400> text;
  return std::string(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
}

void expect_read_alike(const std::string& text) {
  double one = 7, other = 7;
  const char *begin = text.data(), *end = begin + text.size();
  const auto ours = portable::read_double(begin, end, one), library = std::from_chars(begin, end, other);
  EXPECT_EQ(ours.ptr - begin, library.ptr - begin) << text;
  EXPECT_EQ(ours.ec, library.ec) << text;
  EXPECT_EQ(std::memcmp(&one, &other, sizeof one), 0) << text << ": " << one << ", " << other;
}

TEST(NumberText, IsThatOfTheLibraryForDoublesOfEverySize) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200'000; ++i) {
    double value;
    const std::uint64_t bits = random();
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    const std::string text = by_the_library(value);
    ASSERT_EQ(portable::shortest_text(value), text);
    expect_read_alike(text);
  }
}

TEST(NumberText, IsThatOfTheLibraryForWhatPeopleWrite) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 200'000; ++i) {
    const double value = static_cast<double>(static_cast<std::int64_t>(random() % 2'000'000) - 1'000'000) *
                         std::pow(10., static_cast<int>(random() % 30) - 12);
    const std::string text = by_the_library(value);
    ASSERT_EQ(portable::shortest_text(value), text);
    expect_read_alike(text);
    // With more digits than a double has.
    expect_read_alike(text + std::to_string(random()));
  }
  for (const double value :
       {0., -0., 1., 10., 1e5, 123456., 1e21, 1e22, 123456789012345678., 5e-324, 2.2250738585072014e-308,
        1.7976931348623157e308, 0.1, 0.001, 0.0001, 1e-5, 4503599627370496.5})
    EXPECT_EQ(portable::shortest_text(value), by_the_library(value));
}

TEST(NumberText, ReadsWhatTheLibraryReadsAndNoMore) {
  for (const char* text : {"",
                           "-",
                           "+1",
                           ".",
                           "-.",
                           ".5",
                           "5.",
                           "1e",
                           "1e+",
                           "1e-x",
                           "1e5",
                           "1E5x",
                           "1.5Gbps",
                           "0x10",
                           " 1",
                           "1 ",
                           "--1",
                           "-1",
                           "1..2",
                           "1,5",
                           "inf",
                           "-INF",
                           "infinity",
                           "infinit",
                           "nan",
                           "NaN",
                           "nan(ab_1)",
                           "nan(",
                           "nan(-)",
                           "-nan",
                           "in",
                           "na",
                           "1e400",
                           "-1e400",
                           "1e99999999999",
                           "00012",
                           "9007199254740993",
                           "1e22",
                           "1e23",
                           "123456789012345678901234567890",
                           "0.000000000000000000000000000000000001",
                           "1e5e5",
                           "0e999999",
                           "e5"})
    expect_read_alike(text);
}

#endif

}  // namespace longhaul::number_text_test
