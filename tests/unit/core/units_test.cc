#include "core/base/units.h"

#include <gtest/gtest.h>

#include "tests/support/said.h"

namespace longhaul::units_test {

TEST(Units, AreReadInBitsSecondsAndBytesOrRefused) {
  EXPECT_DOUBLE_EQ(parse_rate("1Gbps"), 1e9);
  EXPECT_DOUBLE_EQ(parse_rate("100 Mbps"), 1e8);
  EXPECT_DOUBLE_EQ(parse_rate("12.5MB/s"), 1e8);
  EXPECT_DOUBLE_EQ(parse_rate("2Kib/s"), 2048);
  EXPECT_DOUBLE_EQ(parse_duration("50ms"), 0.05);
  EXPECT_DOUBLE_EQ(parse_duration("2min"), 120);
  EXPECT_DOUBLE_EQ(parse_bytes("10MB"), 1e7);
  EXPECT_DOUBLE_EQ(parse_bytes("1GiB"), 1073741824.);
  for (const char* text : {"50", "fast", "", "50 parsecs", "1Gbps extra"})
    EXPECT_SAYS(said_by([&] { parse_duration(text); }), "50ms") << text;
  EXPECT_THROW(parse_rate("1GB"), InputError);
}

TEST(Units, AreWrittenShortAndExactOrForPeople) {
  EXPECT_EQ(format_number(0.1), "0.1");
  EXPECT_EQ(format_number(1e9), "1e+09");
  EXPECT_EQ(format_number(1. / 3), "0.3333333333333333");
  EXPECT_EQ(format_number(200), "200");
  EXPECT_EQ(human_bytes(620e6), "620 MB");
  EXPECT_EQ(human_rate(9.4e8), "940 Mb/s");
  EXPECT_EQ(human_duration(0.0502), "50.2 ms");
  EXPECT_EQ(human_duration(250), "4 min 10 s");
  EXPECT_EQ(human_duration(729 * 86400.), "729.0 d");
  EXPECT_EQ(human_duration(3738 * 86400.), "10.2 years") << "of 365.25 days";
}

TEST(Units, AreOfFiniteNumbers) {
  for (const char* text : {"1e300Tbps", "nanGbps", "infbps"})
    EXPECT_SAYS(thrown_by([&] { parse_rate(text); }).what(), std::string("\"") + text + "\" is not a rate");
}

}  // namespace longhaul::units_test
