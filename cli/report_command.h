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

}  // namespace longhaul
