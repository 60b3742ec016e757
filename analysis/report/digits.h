// Six significant digits: what a picture needs, so that a report of many cases stays small.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace longhaul {

inline double six_digits(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

}  // namespace longhaul
