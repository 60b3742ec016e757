// The rate that a label of a link names, as people write it on maps: "OC-48c", "4 x STM-16", "155 Mbps",
// "2.5G", "10GbE", "2 x 10 Gbit/s", "Fast Ethernet", "E3".
#pragma once

#include <optional>
#include <string>

namespace longhaul {

// bit/s. OC-n has n · 51.84 Mb/s (ANSI T1.105), STM-n n · 155.52 Mb/s (ITU-T G.707), E1, E3, E4 have 2.048,
// 34.368 and 139.264 and T1, T3 1.544 and 44.736 Mb/s (ITU-T G.702); Ethernet has its nominal rate (IEEE
// 802.3). "N x" multiplies. None where the label names no rate, two different ones, a range or a bound ("155
// - 622 Mbps", "> 1G"), or one whose unit could be bytes ("10 MB/s").
std::optional<double> rate_in_label(const std::string& label);

}  // namespace longhaul
