// longhaul report RUN...: one self-contained HTML file from one or several run directories.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

struct ReportOptions {
  std::vector<std::string> runs;
  std::string out;  // empty: RUN/report.html (RUN/live.html with watch), or report.html for several
  bool watch = false;
  double every_s = 5;
};

// What could not be read is named on stderr and on the page, and the rest is reported.
int report_command(const ReportOptions& options);

// longhaul report --watch: the page of runs in progress, written anew from what is on disk until they end.

// Writes `out` every `seconds` (the page reloads itself as often), and once more without reloading when no
// run is in progress any more or on Ctrl-C. Returns the exit status. Throws InputError where no run can be
// read.
int watch_report(const std::vector<std::string>& runs, const std::string& out, double seconds);

}  // namespace longhaul
