#include <fmt/core.h>

#include <cstdio>
#include <set>

#include "cli/commands.h"
#include "core/base/errors.h"
#include "core/base/json.h"
#include "core/base/printable.h"
#include "core/base/units.h"
#include "planner/measured/formats.h"
#include "planner/measured/matrix.h"
#include "planner/measured/text.h"
#include "planner/measurement_files.h"

namespace longhaul {
namespace {

// At the first equals sign.
std::pair<std::string, std::string> halves_of(const std::string& text) {
  const std::size_t at = text.find('=');
  return {text.substr(0, at), at == std::string::npos ? "" : text.substr(at + 1)};
}

measured::Sites::Hosts sites_of(const std::vector<std::string>& written) {
  measured::Sites::Hosts sites;
  std::set<std::string> names;
  std::vector<std::string> all;
  for (const std::string& one : written) {
    const auto [name, hosts] = halves_of(one);
    if (name.empty()) throw InputError("--site", "found \"" + one + "\"", "NAME or NAME=HOST,HOST");
    sites.emplace_back(name, measured::split(hosts, ','));
    names.insert(name);
    all.push_back(name);
  }
  if (names.size() < 2 || names.size() < written.size())
    throw InputError("--site", "found " + join(all), "at least two, each name once");
  return sites;
}

// Above 0, as `parse` reads it; the text itself, which the matrix has.
std::string checked(const std::string& option, const std::string& text, double (*parse)(const std::string&)) {
  try {
    if (parse(text) > 0) return text;
  } catch (const InputError& error) {
    InputErrorParts parts = error.parts();
    parts.path = option;
    throw InputError(parts);
  }
  throw InputError(option, "found \"" + text + "\"", "above 0");
}

Json inside_of(const std::string& written) {
  const std::vector<std::string> parts = measured::split(written, ',');
  if (parts.size() != 2)
    throw InputError("--inside", "found \"" + written + "\"", "a round trip and a rate, as 0.5ms,940Mbps");
  return {{"rtt", checked("--inside", parts[0], parse_duration)},
          {"throughput", checked("--inside", parts[1], parse_rate)}};
}

std::map<measured::SitePair, std::string> rtts_of(const std::vector<std::string>& written,
                                                  const measured::Sites& sites) {
  std::map<measured::SitePair, std::string> rtts;
  for (const std::string& one : written) {
    const auto [between, rtt] = halves_of(one);
    const std::vector<std::string> names = measured::split(between, ',');
    if (names.size() != 2 || names[0] == names[1] || !sites.has_name(names[0]) || !sites.has_name(names[1]))
      throw InputError("--rtt", "found \"" + between + "\"", "two of " + join(sites.names()));
    rtts[measured::pair_of(names[0], names[1])] = checked("--rtt", rtt, parse_duration);
  }
  return rtts;
}

// In ASCII, so that whatever reads it may take it for any encoding.
std::string as_text(const Json& json, int indent) {
  return json.dump(indent, ' ', true, Json::error_handler_t::replace) + "\n";
}

template <typename Value>
Json or_null(const Value& value, bool is_known) {
  return is_known ? Json(value) : Json();
}

Json as_json(const measured::Measured& one) {
  return {{"file", one.file},
          {"pair", one.pair},
          {"from", or_null(one.sender, !one.sender.empty())},
          {"together_bps", or_null(one.together_bps.value_or(0), one.together_bps.has_value())},
          {"streams", one.streams},
          {"rtt_s", or_null(one.rtt_s.value_or(0), one.rtt_s.has_value())},
          {"is_loaded", one.is_loaded},
          {"both_ways", one.both_ways},
          {"as_sent", one.as_sent},
          {"limit", one.limit},
          {"test", one.test},
          {"notes", one.notes}};
}

// A line for each thing read. A file that is refused is said, and the others are listed.
int list_measurements(const MeasuredOptions& options, const measured::Sites& sites) {
  int status = kDone;
  for (const std::string& file : measurement_files(options.files)) {
    try {
      for (const measured::Measured& one : measured::read(read_measurement_file(file), sites))
        std::fputs(as_text(as_json(one), -1).c_str(), stdout);
    } catch (const InputError& error) {
      say(stderr, fmt::format("error: {}\n", error.what()));
      status = kInputWrong;
    }
  }
  return status;
}

}  // namespace

int measured_command(const MeasuredOptions& options) {
  measured::Known known;
  known.sites = sites_of(options.sites);
  const measured::Sites sites(known.sites);
  if (options.list) return list_measurements(options, sites);
  known.inside = inside_of(options.inside);
  known.rtts = rtts_of(options.rtts, sites);
  if (!options.throughput.empty()) known.throughput = checked("--throughput", options.throughput, parse_rate);
  std::vector<std::string> warnings;
  const Json matrix = matrix_of(read_measurements(options.files, sites), known, warnings);
  warn(warnings);
  write_or_print(options.out, as_text(matrix, 1));
  return kDone;
}

}  // namespace longhaul
