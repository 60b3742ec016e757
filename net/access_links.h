// The links that join replicas to the router they are at: of a star, and of each site of the others.
#pragma once

#include <string>

#include "core/options.h"

namespace longhaul {

struct AccessLinks {
  double up = 0, down = 0;  // bit/s, towards the router and from it
  double rtt = 0;           // s, between two replicas at one router; each link is a quarter of it one way
};

// From {rtt, rate} or {rtt, up, down}. Throws InputError at `path` for both or neither.
AccessLinks parse_access_links(const Json& json, const std::string& path);

// "1Gbps", or "20Mbps up, 200Mbps down", of such a section.
std::string rates_in_words(const Json& json);

}  // namespace longhaul
