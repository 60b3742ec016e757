#include "core/base/units.h"

#include <fmt/core.h>

#include <cmath>
#include <map>
#include <vector>

#include "core/base/errors.h"

namespace longhaul {
namespace {

using UnitTable = std::map<std::string, double>;

UnitTable rate_units() {
  UnitTable units;
  const std::map<std::string, double> prefixes = {
      {"", 1},     {"k", 1e3},   {"M", 1e6},           {"G", 1e9},
      {"T", 1e12}, {"Ki", 1024}, {"Mi", 1024. * 1024}, {"Gi", 1024. * 1024 * 1024}};
  for (const auto& [prefix, factor] : prefixes) {
    for (const char* bits : {"bps", "b/s", "bit/s", "bits/s", "b/sec", "bit/sec", "bits/sec"})
      units[prefix + bits] = factor;
    for (const char* bytes : {"Bps", "B/s", "Bytes/s", "bytes/s", "B/sec", "Bytes/sec", "bytes/sec"})
      units[prefix + bytes] = 8 * factor;
  }
  return units;
}

const UnitTable kRateUnits = rate_units();
UnitTable duration_units() {
  UnitTable units = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1},
                     {"min", 60},  {"h", 3600},  {"d", 86400}};
  for (const auto& [word, seconds] :
       {std::pair("second", 1.), {"minute", 60.}, {"hour", 3600.}, {"day", 86400.}, {"week", 7 * 86400.}}) {
    units[word] = seconds;
    units[std::string(word) + "s"] = seconds;
  }
  return units;
}

UnitTable flops_units() {
  UnitTable units;
  for (const auto& [prefix, factor] : {std::pair("G", 1e9), {"T", 1e12}, {"P", 1e15}, {"E", 1e18}})
    for (const char* word : {"FLOPS", "FLOP/s", "FLOPs", "flops", "flop/s", "FLOPS/s"})
      units[std::string(prefix) + word] = factor;
  return units;
}

const UnitTable kDurationUnits = duration_units(), kFlopsUnits = flops_units();
const UnitTable kByteUnits = {{"B", 1},      {"kB", 1e3},           {"KB", 1e3},
                              {"MB", 1e6},   {"GB", 1e9},           {"TB", 1e12},
                              {"KiB", 1024}, {"MiB", 1024. * 1024}, {"GiB", 1024. * 1024 * 1024}};

double parse_quantity(const std::string& text, const UnitTable& units, const char* what,
                      const char* examples) {
  std::string compact;
  for (char c : text)
    if (c != ' ') compact += c;
  double value = 0;
  const char* end = compact.data() + compact.size();
  const auto [rest, error] = read_double(compact.data(), end, value);
  const std::string allowed = fmt::format("a number with its unit, as {}", examples);
  const std::string unit(rest, end);
  const auto entry = units.find(unit);
  if (entry != units.end()) value *= entry->second;
  if (error != std::errc() || !std::isfinite(value))
    throw InputError("", fmt::format("\"{}\" is not {}", text, what), allowed);
  if (entry != units.end()) return value;
  if (unit.empty()) throw InputError("", fmt::format("\"{}\" has no unit", text), allowed);
  throw InputError("", fmt::format("\"{}\" has the unit \"{}\", which is not {}'s", text, unit, what),
                   allowed);
}

std::string scaled(double value, const std::vector<std::pair<double, const char*>>& steps) {
  for (const auto& [unit, name] : steps)
    if (std::abs(value) >= unit) return fmt::format("{:.3g} {}", value / unit, name);
  return fmt::format("{:.3g} {}", value / steps.back().first, steps.back().second);
}

constexpr int kYear = 31557600;  // seconds, of 365.25 days

}  // namespace

double parse_rate(const std::string& text) {
  return parse_quantity(text, kRateUnits, "a rate", "\"100Mbps\", \"1Gbps\", \"12.5MB/s\"");
}

double parse_duration(const std::string& text) {
  return parse_quantity(text, kDurationUnits, "a time", "\"50ms\", \"2min\", \"12h\", \"60d\"");
}

double parse_flops(const std::string& text) {
  return parse_quantity(text, kFlopsUnits, "a peak", "\"989 TFLOPS\", \"2.25 PFLOPS\"");
}

double parse_bytes(const std::string& text) {
  return parse_quantity(text, kByteUnits, "a size", "\"1500B\", \"64kB\", \"10MB\", \"2GiB\"");
}

std::string format_number(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  return shortest_text(value);
}

std::string human_bytes(double bytes) {
  return scaled(bytes, {{1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}});
}

std::string human_count(double count) {
  for (const auto& [scale, prefix] : {std::pair(1e12, " T"), {1e9, " G"}, {1e6, " M"}, {1e3, " k"}})
    if (count >= scale * 0.9995) return fmt::format("{:.3g}{}", count / scale, prefix);
  return fmt::format("{:.3g}", count);
}

std::string human_rate(double bits_per_second) {
  return scaled(bits_per_second, {{1e12, "Tb/s"}, {1e9, "Gb/s"}, {1e6, "Mb/s"}, {1e3, "kb/s"}, {1, "b/s"}});
}

std::string human_duration(double seconds) {
  if (seconds < 100) return scaled(seconds, {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}});
  const long long whole = std::llround(seconds);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  const long long minutes = std::llround(seconds / 60);
  if (whole < 2 * 86400) return fmt::format("{} h {} min", minutes / 60, minutes % 60);
  if (whole < 2 * kYear) return fmt::format("{:.1f} d", seconds / 86400);
  return fmt::format("{:.1f} years", seconds / kYear);
}

}  // namespace longhaul
