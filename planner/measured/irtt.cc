// What `irtt client` prints, or writes with -o. Its JSON has nanoseconds.
#include "planner/measured/json_values.h"
#include "planner/measured/line_pattern.h"
#include "planner/measured/readers.h"
#include "planner/measured/round_trips.h"
#include "planner/measured/text.h"

namespace longhaul::measured::irtt {
namespace {

// The shortest one stands first.
const LinePattern& round_trip_row() {
  static const LinePattern row("RTT", "^\\s+RTT\\s+([\\d.]+)(ns|\xc2\xb5s|\xce\xbcs|us|ms|s)\\s");
  return row;
}

double seconds_of(const std::string& unit) {
  return unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "ns" ? 1e-9 : 1e-6;
}

std::string without_port(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon + 1 == address.size()) return address;
  for (std::size_t i = colon + 1; i < address.size(); ++i)
    if (!is_digit(address[i])) return address;
  const bool is_only = address.find(':') == colon, is_behind_bracket = colon > 0 && address[colon - 1] == ']';
  return is_only || is_behind_bracket ? address.substr(0, colon) : address;
}

}  // namespace

bool is_of(const std::string& text) {
  return contains(text, "send/receive rate") && round_trip_row().in_first(lines_of(text));
}

bool is_document(const Json& document) {
  return document.is_object() && has(get(document, "version"), "irtt");
}

std::vector<Measured> read(const std::string& file, const std::string& text, const Sites& sites) {
  static const LinePattern target("onnect", R"(^\[(\S+)\] \[Connected\]|connecting to (\S+))");
  std::vector<std::string> hosts;
  std::vector<RoundTrip> found;
  for (const std::string_view line : lines_of(text))
    for (const Match& match : target.all_in(line))
      if (const std::string host = first_of({match[1], match[2]}); !host.empty())
        hosts.push_back(without_port(host));
  for (const std::string_view line : lines_of(text))
    if (const std::optional<Match> row = round_trip_row().in(line))
      found.push_back({hosts, number_of_text((*row)[1]) * seconds_of((*row)[2])});
  return measured_between(file, found, sites);
}

std::vector<Measured> read_documents(const std::string& file, const Documents& documents,
                                     const Sites& sites) {
  static const Json none = Json::object();
  const auto inside = [](const Json& json, const char* key) -> const Json& {
    const Json& found = get(json, key);
    return has(json, key) ? found : none;
  };
  std::vector<RoundTrip> found;
  for (const Json& document : documents) {
    const Json& shortest = get(inside(inside(document, "stats"), "rtt"), "min");
    if (!is_true(shortest) || number(shortest) <= 0)
      throw of_file(file, "the target did not answer irtt; measure again, or leave the file out");
    const Json& config = inside(document, "config");
    RoundTrip one{{}, number(shortest) * 1e-9, without_port(text(get(config, "local_address")))};
    for (const std::string& host :
         {text(get(config, "remote_address")), text(get(inside(config, "supplied"), "remote_address"))})
      if (!host.empty()) one.hosts.push_back(without_port(host));
    found.push_back(one);
  }
  return measured_between(file, found, sites);
}

}  // namespace longhaul::measured::irtt
