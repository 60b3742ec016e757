#include "cli/report_command.h"

#include <cstdio>

#include "analysis/report/report.h"
#include "analysis/report/report_data.h"
#include "cli/run_layout.h"
#include "cli/watch_report.h"

namespace longhaul {

int report_command(const ReportOptions& options) {
  std::string out = options.out;
  // Not report.html: the run itself writes that now and then, and its page does not reload.
  if (out.empty())
    out = options.runs.size() > 1 ? "report.html"
                                  : options.runs[0] + (options.watch ? "/live.html" : "/report.html");
  if (options.watch) return watch_report(options.runs, out, options.every_s);
  const Json data = report_data(options.runs);
  for (const Json& problem : data["problems"])
    std::fprintf(stderr, "warning: %s\n", problem.get<std::string>().c_str());
  write_file(out, report_page(data));
  std::printf("report: %s\n", out.c_str());
  return 0;
}

}  // namespace longhaul
