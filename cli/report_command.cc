#include "cli/report_command.h"

#include <cstdio>
#include <filesystem>

#include "analysis/report/report.h"
#include "cli/run_layout.h"
#include "core/errors.h"

namespace longhaul {

int report_command(const std::vector<std::string>& runs, std::string out) {
  for (const std::string& run : runs)
    if (!std::filesystem::exists(run + "/summary.json"))
      throw InputError({run, "", "is no run directory (it has no summary.json)",
                        "a folder that longhaul run has written", ""});
  if (out.empty()) out = runs.size() == 1 ? runs[0] + "/report.html" : "report.html";
  write_file(out, report_html(runs));
  std::printf("report: %s\n", out.c_str());
  return 0;
}

}  // namespace longhaul
