#include "planner/measured/doubts.h"

#include <fmt/core.h>

#include "planner/measured/measurement.h"

namespace longhaul::measured {
namespace {

constexpr double kShortest_s = 0.5, kShort_s = 2.9;  // refused; said
constexpr double kFewestBytes = 1e6;                 // less is one window

}  // namespace

void refuse_short(const std::string& file, std::optional<double> seconds, std::optional<double> bytes,
                  const std::string& how) {
  if (bytes && *bytes < kFewestBytes)
    throw of_file(
        file,
        fmt::format(
            "sent {:.6g} bytes, which {} allowed and one round trip carries: it says nothing of what a "
            "connection carries",
            *bytes, how),
        how == "-e" ? "-e of 128M or more" : "a test of 10 s (iperf3 -t 10)");
  if (seconds && *seconds > 0 && *seconds < kShortest_s)
    throw of_file(file, fmt::format("lasted {:.3g} s, too little to say what a connection carries", *seconds),
                  fmt::format("at least {} s, better 10 (iperf3 -t 10)", kShortest_s));
}

std::vector<std::string> short_note(const std::string& file, std::optional<double> seconds,
                                    bool is_by_amount) {
  if (!seconds || *seconds >= (is_by_amount ? 2 * kShort_s : kShort_s)) return {};
  return {fmt::format(
      "{}: lasted {:.3g} s, most of which a connection may have needed to find its pace{}; measure 10 s "
      "(iperf3 -t 10)",
      file, *seconds,
      is_by_amount ? " (and with -n or -k newer iperf3 count to the end of the second)" : "")};
}

}  // namespace longhaul::measured
