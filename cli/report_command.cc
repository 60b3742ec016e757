#include <cstdio>

#include "analysis/report/report.h"
#include "analysis/run_files.h"
#include "cli/commands.h"
#include "cli/run_outputs.h"

namespace longhaul {

int report_command(const ReportOptions& options) {
  std::string out = options.out;
  if (out.empty()) out = options.runs.size() > 1 ? "report.html" : options.runs[0] + "/report.html";
  const Json data = report_data(options.runs);
  warn(data["problems"].get<std::vector<std::string>>());
  write_file(out, report_page(data));
  std::printf("report: %s\n", out.c_str());
  return kDone;
}

}  // namespace longhaul
