// Labels of links as maps have them, and the rates that the standards give their names.
#include "net/topologies/link_label.h"

#include <gtest/gtest.h>

namespace longhaul::link_label_test {

TEST(LinkLabel, NamesTheRateOfItsStandard) {
  const std::pair<const char*, double> labels[] = {
      // ANSI T1.105: OC-1 is 51.84 Mb/s. ITU-T G.707: STM-1 is 155.52 Mb/s.
      {"OC-3", 155.52e6},
      {"oc48c", 2488.32e6},
      {"OC 192", 9953.28e6},
      {"Oslo - Bergen (OC-12)", 622.08e6},
      {"STM-16", 2488.32e6},
      {"STM1", 155.52e6},
      {"stm-64", 9953.28e6},
      {"4 x OC-3", 622.08e6},
      {"2xSTM-4", 1244.16e6},
      // ITU-T G.702.
      {"E1", 2.048e6},
      {"E3", 34.368e6},
      {"T1", 1.544e6},
      {"DS-3", 44.736e6},
      {"3 x E1", 6.144e6},
      {"155 Mbps", 155e6},
      {"155Mbps", 155e6},
      {"155 Mb/s", 155e6},
      {"34 Mbit/s", 34e6},
      {"622 Mbits/sec", 622e6},
      {"2.5 Gbps", 2.5e9},
      {"2,5 Gbit/s", 2.5e9},
      {"10G", 10e9},
      {"2.5G", 2.5e9},
      {"100 GBPS", 100e9},
      {"622M", 622e6},
      {"64k", 64e3},
      {"1 Tbps", 1e12},
      {"10 gbps", 10e9},
      {"10-Gbps", 10e9},
      {"2.488 Gbps", 2.488e9},
      {"155.520 Mbps", 155.52e6},
      {"0.500 Gbps", 0.5e9},
      {"1.00 Gbps", 1e9},
      {"1000 Mbps", 1e9},
      {"10 Gbps (1 500 m)", 10e9},
      {"100 Mb", 100e6},
      {"10GbE", 10e9},
      {"10GE", 10e9},
      {"100 GE", 100e9},
      {"10 GigE", 10e9},
      {"10 Gigabit Ethernet", 10e9},
      {"GigE", 1e9},
      {"Gigabit Ethernet", 1e9},
      {"Fast Ethernet", 100e6},
      {"FE", 100e6},
      {"2 x 10 Gbit/s", 20e9},
      {"2×10GbE", 20e9},
      {"2 * 1 Gbps", 2e9},
      {"fibre, 10 Gbps, 120 km", 10e9},
      {"OC-48 (2.5 Gbps)", 2488.32e6},
      {"OC-48/STM-16", 2488.32e6}};
  for (const auto& [label, rate] : labels) {
    const std::optional<double> found = rate_in_label(label);
    EXPECT_TRUE(found.has_value()) << label;
    EXPECT_NEAR(found.value_or(0), rate, 1e-9 * rate) << label;
  }
}

TEST(LinkLabel, NamesNoneWhereItIsDoubtful) {
  for (const char* label : {"",
                            "Dark fibre",
                            "155-622 Mbps",
                            "155 to 622 Mbps",
                            "up to 10G",
                            "< 155 Mbps",
                            ">= 1 Gbps",
                            "~10G",
                            "N x 10G",
                            "nx10G",
                            "10G + 1G",
                            "10G+",
                            "2.5G/10G",
                            "10/100 Mbps",
                            "OC-3 x 2",
                            "10 MB/s",
                            "1.000 Mbps",
                            "2.500 Gbps",
                            "155.000 Mbps",
                            "1,000 Mbps",
                            "1.000.000 kbps",
                            "1 500 Mbps",
                            "1\u00a0500 Mbps",
                            "1'500 Mbps",
                            "4 x 1.000 Mbps",
                            "10 MBps",
                            "5 m",
                            "120 km",
                            "100 GHz",
                            "1550 nm",
                            "10 min",
                            "OC-",
                            "OC-0",
                            "0 Mbps",
                            "1,000 Mbps",
                            "155",
                            "1.2.3 Gbps",
                            "TOC3",
                            "E5",
                            "Tier 1",
                            "Santa Fe",
                            "ge",
                            "route e3",
                            "A1",
                            "x",
                            "99999999999999999999x"})
    EXPECT_FALSE(rate_in_label(label).has_value()) << label << ": " << rate_in_label(label).value_or(0);
  EXPECT_FALSE(rate_in_label(std::string(100000, '9') + "G").has_value());
}

}  // namespace longhaul::link_label_test
