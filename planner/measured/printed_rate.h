// Rates as both iperfs print them: "211 Mbits/sec", "25.1 MBytes/sec".
#pragma once

#include <string>

namespace longhaul::measured {

// Three groups of a regular expression: the number, its prefix, and bits or Bytes.
inline constexpr const char* kPrintedRate = R"(([\d.]+)\s+([KMGT]?)(bits|Bytes)/sec)";

// Bits a second; prefixes of bytes are powers of 1024. Throws Damaged where `number` is none.
double printed_rate(const std::string& number, const std::string& prefix, const std::string& unit);

}  // namespace longhaul::measured
