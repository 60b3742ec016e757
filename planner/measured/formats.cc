#include "planner/measured/formats.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/base/units.h"
#include "planner/measured/documents.h"
#include "planner/measured/line_pattern.h"
#include "planner/measured/readers.h"
#include "planner/measured/text.h"

namespace longhaul::measured {
namespace {

const char* const kRead =
    "`iperf3 -c HOST --json` for what a connection carries, `ping -c 20 HOST` for the round trip, "
    "nccl-tests, fping, mtr -r, irtt, "
    "iperf 2, or a table from,to,rate_mbps,rtt_ms (.csv)";
const char* const kThroughput = "`iperf3 -c HOST -t 10 --json`";

struct DocumentFormat {
  bool (*is_of)(const Json&);
  std::vector<Measured> (*read)(const std::string&, const Documents&, const Sites&);
};

struct TextFormat {
  bool (*is_of)(const std::string&);
  std::vector<Measured> (*read)(const std::string&, const std::string&, const Sites&);
};

const DocumentFormat kDocuments[] = {{irtt::is_document, irtt::read_documents},
                                     {mtr::is_document, mtr::read_documents},
                                     {nccl_tests::is_document, nccl_tests::read_documents},
                                     {pings::is_fping_document, pings::read_fping_documents},
                                     {iperf3::is_document, iperf3::read_documents}};

// iperf 2 and mtr have tables of their own, so they come before tables.
const TextFormat kBeforeTables[] = {{nccl_tests::is_of, nccl_tests::read},
                                    {mtr::is_csv, mtr::read_csv},
                                    {mtr::is_report, mtr::read},
                                    {irtt::is_of, irtt::read},
                                    {iperf2::is_csv, iperf2::read_csv}};
const TextFormat kBehindTables[] = {{iperf3_text::is_of, iperf3_text::read},
                                    {iperf2::is_of, iperf2::read},
                                    {pings::is_fping, pings::read_fping},
                                    {pings::is_ping, pings::read_ping}};

struct NotRead {
  const char* tool;
  LinePattern line;
  std::string instead;
};

const std::vector<NotRead>& not_read() {
  const std::string round_trip = "`ping -c 20 HOST`", report = "`mtr -r -n -c 20 HOST` or `mtr --json`",
                    throughput = kThroughput;
  static const std::vector<NotRead> tools = {
      {"qperf", {":", "^(tcp|udp|rc|ud)_(bw|lat):"}, throughput + ", and " + round_trip},
      {"netperf",
       {"", R"(^(MIGRATED )?(TCP|UDP|OMNI)[ _]\S*.*TEST|^THROUGHPUT=|^Recv\s+Send\s+Send)"},
       throughput + ", or a table"},
      {"sockperf", {"sockperf:", "^sockperf:"}, round_trip + ", or " + throughput},
      {"nuttcp", {"Mbps", R"([\d.]+ MB / +[\d.]+ sec = +[\d.]+ Mbps)"}, throughput},
      {"traceroute", {"", R"(^traceroute to |^Tracing route|^ ?1\?: \[LOCALHOST\])"}, round_trip},
      {"speedtest",
       {"peed", R"(Speedtest by Ookla|Testing (down|up)load speed|speedtest\.net)"},
       throughput + " between the two sites: a speed test measures a path to a server of its own"},
      {"mtr --xml", {"<MTR ", "<MTR "}, report},
      {"mtr --raw", {"x ", R"(^x \d+ \d{5}$)"}, report},
      {"iperf3's list of options",
       {"perf", R"(iperf3? \[-h\||Usage: iperf)"},
       "what a test prints: iperf3 --json-stream needs 3.17 or later"}};
  return tools;
}

// Five numbers alone, as `netperf -P 0` prints them in the first line.
bool is_bare_netperf(const std::vector<std::string_view>& lines) {
  static const LinePattern numbers(" ", R"(^\s*\d+ +\d+ +\d+ +[\d.]+ +[\d.]+ *$)");
  const auto first =
      std::find_if(lines.begin(), lines.end(), [](std::string_view line) { return !strip(line).empty(); });
  return first != lines.end() && numbers.in(*first);
}

InputError no_tool(const std::string& file, const std::string& text) {
  const std::vector<std::string_view> lines = lines_of(text);
  for (const NotRead& one : not_read())
    if (one.line.in_first(lines) || (std::string(one.tool) == "netperf" && is_bare_netperf(lines)))
      return of_file(file, fmt::format("is of {}, which is not read; give {}", one.tool, one.instead));
  return of_file(file, "has no line \"rtt min/avg/max\" and is of no tool that is read", kRead);
}

InputError no_tools_document(const std::string& file, const std::vector<Json>& documents) {
  std::vector<std::string> keys;
  if (!documents.empty())
    for (const auto& item : documents[0].items()) keys.push_back(item.key());
  const auto has_both = [&](const char* key, const char* other) {
    return documents[0].contains(key) && documents[0].contains(other);
  };
  if (!documents.empty() && has_both("sites", "pairs"))
    return of_file(file, "is a matrix of sites already; give it to network.topology.regions.matrix");
  if (!documents.empty() && has_both("download", "upload"))
    return of_file(
        file,
        fmt::format(
            "is of a speed test, which measures a path to a server of its own; give {} between the two sites",
            kThroughput));
  constexpr std::size_t kShown = 8;
  keys.resize(std::min(keys.size(), kShown));
  return of_file(
      file, fmt::format("is JSON of no tool that is read (keys: {})", keys.empty() ? "none" : join(keys)),
      kRead);
}

std::vector<Measured> read_json(const std::string& file, const std::string& text, const Sites& sites) {
  const std::vector<Json> documents = json_documents(file, text);
  for (const DocumentFormat& format : kDocuments) {
    Documents of;
    for (const Json& document : documents)
      if (format.is_of(document)) of.push_back(document);
    if (!of.empty()) return format.read(file, of, sites);
  }
  throw no_tools_document(file, documents);
}

std::vector<Measured> read_text(const std::string& file, const std::string& text, const Sites& sites) {
  if (is_json(text)) return read_json(file, text, sites);
  for (const TextFormat& format : kBeforeTables)
    if (format.is_of(text)) return format.read(file, text, sites);
  if (is_named_table(file) || tables::is_of(text, sites)) return tables::read(file, text, sites);
  for (const TextFormat& format : kBehindTables)
    if (format.is_of(text)) return format.read(file, text, sites);
  throw no_tool(file, text);
}

void check(const std::string& file, std::optional<double> value, const char* unit) {
  if (value && !(*value > 0 && std::isfinite(*value)))
    throw of_file(file, fmt::format("found {} {}", format_number(*value), unit), "above 0 and finite");
}

}  // namespace

std::vector<Measured> read(const MeasurementFile& file, const Sites& sites) {
  const std::string text = text_of_file(file);
  try {
    const std::vector<Measured> found = read_text(file.name, text, sites);
    for (const Measured& one : found) {
      check(file.name, one.together_bps, "bit/s");
      check(file.name, one.rtt_s, "s");
    }
    return found;
  } catch (const InputError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw of_file(file.name, fmt::format("is damaged, or not as its tool wrote it ({})", error.what()),
                  kRead);
  }
}

}  // namespace longhaul::measured
