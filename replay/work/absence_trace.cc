#include "replay/work/absence_trace.h"

#include <fmt/core.h>

#include <cctype>
#include <cmath>
#include <optional>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/index.h"
#include "core/base/trace_lines.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

const std::vector<std::string> kColumns = {"replica", "left_s", "back_s"};
constexpr double kLongest_s = 1e9;  // as of other faults

std::string written_seconds(std::int64_t ns) {
  return format_number(static_cast<double>(ns) / 1e9);
}

int replica_in(const TraceLine& line, const TraceLine& header, int replicas) {
  const std::optional<double> number = trace_number(line, header, "replica");
  if (!number || *number < 0 || *number >= replicas || *number != std::floor(*number))
    line.refuse("replica", number ? "found " + format_number(*number) : "the cell is empty",
                fmt::format("a replica, 0 … {}", replicas - 1));
  return static_cast<int>(*number);
}

// Seconds, or a duration with its unit.
std::optional<std::int64_t> time_in(const TraceLine& line, const TraceLine& header,
                                    const std::string& column) {
  const std::string cell = trace_cell(line, header, column);
  if (cell.empty()) return std::nullopt;
  std::optional<double> time_s;
  if (std::isalpha(static_cast<unsigned char>(cell.back()))) {
    try {
      time_s = parse_duration(cell);
    } catch (const InputError&) {
      line.refuse(column, "found \"" + cell + "\"", "seconds, or a duration as \"90min\"");
    }
  } else {
    time_s = trace_number(line, header, column);
  }
  if (!(*time_s >= 0 && *time_s <= kLongest_s))
    line.refuse(column, "found " + format_number(*time_s), "seconds from 0 to " + format_number(kLongest_s));
  return std::llround(*time_s * 1e9);
}

FaultWindows::Window absence_in(const TraceLine& line, const TraceLine& header) {
  const std::optional<std::int64_t> left = time_in(line, header, "left_s"),
                                    back = time_in(line, header, "back_s");
  if (!left) line.refuse("left_s", "the cell is empty", "a time in seconds");
  if (back && *back <= *left)
    line.refuse("back_s", "found " + written_seconds(*back),
                "more than left_s, " + written_seconds(*left) + ", or an empty cell: it does not come back");
  return {*left, back.value_or(FaultWindows::kNever)};
}

}  // namespace

AbsenceTrace parse_absences(const std::string& text, const std::string& name, int replicas) {
  const std::vector<TraceLine> lines = trace_lines(text, name);
  if (lines.size() < 2)
    throw InputError({name, "", "has no rows", "a header line, replica,left_s,back_s, and rows", ""});
  const TraceLine& header = lines[0];
  check_trace_header(header, kColumns);
  for (const std::string& column : kColumns)
    if (!has_column(header, column))
      header.refuse("", "found the columns " + join(header.cells), join(kColumns));
  AbsenceTrace absences;
  std::map<int, int> latest_line;  // by replica
  for (std::size_t i = 1; i < lines.size(); ++i) {
    check_trace_cells(lines[i], header);
    const int replica = replica_in(lines[i], header, replicas);
    const FaultWindows::Window absence = absence_in(lines[i], header);
    std::vector<FaultWindows::Window>& before = absences[replica];
    if (!before.empty() && before.back().end_ns == FaultWindows::kNever)
      lines[i].refuse("replica",
                      fmt::format("replica {} does not come back in line {}", replica, latest_line[replica]),
                      "no row behind that one");
    if (!before.empty() && absence.begin_ns < before.back().end_ns)
      lines[i].refuse("left_s", "found " + written_seconds(absence.begin_ns),
                      fmt::format("not before replica {} is back in line {}: {}", replica,
                                  latest_line[replica], written_seconds(before.back().end_ns)));
    before.push_back(absence);
    latest_line[replica] = lines[i].number;
  }
  return absences;
}

AbsenceTrace read_absence_trace(const Fault& fault, int replicas) {
  const std::optional<std::string> text = read_file(fault.file);
  if (!text)
    throw InputError(element_path("faults", as_index(fault.number)) + ".file",
                     fmt::format("\"{}\" {}", fault.file, why_unreadable(fault.file)),
                     "a CSV file, relative to the scenario's folder");
  return parse_absences(*text, fault.file, replicas);
}

}  // namespace longhaul
