#include "planner/measured/printed_rate.h"

#include <cmath>

#include "planner/measured/text.h"

namespace longhaul::measured {

double printed_rate(const std::string& number, const std::string& prefix, const std::string& unit) {
  const std::string prefixes = "KMGT";
  const int power = prefix.empty() ? 0 : static_cast<int>(prefixes.find(prefix)) + 1;
  return number_of_text(number) * (unit == "bits" ? std::pow(1000., power) : 8 * std::pow(1024., power));
}

}  // namespace longhaul::measured
