#include "analysis/report/report.h"

#include "analysis/report/page.h"

namespace longhaul {

std::string report_page(const Json& data) {
  std::string title;
  for (const Json& run : data["runs"]) title += (title.empty() ? "" : ", ") + run["name"].get<std::string>();
  return filled_page("template.html", report_files(), title + " – Longhaul report", data);
}

}  // namespace longhaul
