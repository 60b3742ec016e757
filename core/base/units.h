// Quantities with units, spelt as ns-3 spells them: "1Gbps", "50ms", "10MB".
//
// Inside the program times are seconds, sizes bytes and rates bits per second. Each parser throws InputError
// (without file or path; the caller adds them) that lists the units.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/base/number_text.h"

namespace longhaul {

// All of the text as a number without a unit; none where it is anything else.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value = 0;
  const char* end = text.data() + text.size();
  const std::from_chars_result read = [&] {
    if constexpr (std::is_same_v<Number, double>)
      return read_double(text.data(), end, value);
    else
      return std::from_chars(text.data(), end, value);
  }();
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

double parse_rate(const std::string& text);  // bit/s: bps, kbps, Mbps, Gbps, Tbps, b/s, kb/s, ..., and B/s,
                                             // kB/s, ...; as iperf3 prints them too: Gbits/sec, MBytes/sec
double parse_duration(const std::string& text);  // s: ns, us, ms, s, min, h, d; hours, days, weeks
double parse_bytes(const std::string& text);     // bytes: B, kB, MB, GB, TB, KiB, MiB, GiB

double parse_flops(const std::string& text);  // FLOP/s: GFLOPS, TFLOPS, PFLOPS, TFLOP/s

// The shortest decimal text that reads back as the same double; what every file of a run uses.
std::string format_number(double value);

// For people: three significant digits and a prefix ("1.25 GB", "940 Mb/s", "1.3 s", "4 min 10 s").
std::string human_bytes(double bytes);
std::string human_rate(double bits_per_second);
std::string human_duration(double seconds);
std::string human_count(double count);  // "3.54 M"

}  // namespace longhaul
