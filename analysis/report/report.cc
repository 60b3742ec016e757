#include "analysis/report/report.h"

#include <map>
#include <string_view>

#include "analysis/palette.h"
#include "analysis/report/page.h"

namespace longhaul {

namespace {

std::string title_of(const Json& data) {
  std::string title;
  for (const Json& run : data["runs"]) title += (title.empty() ? "" : ", ") + run["name"].get<std::string>();
  return title + " – Longhaul report";
}

}  // namespace

std::string report_html(const std::vector<std::string>& run_folders) {
  return report_page(report_data(run_folders));
}

std::string report_page(const Json& data) {
  const std::string title = html_safe(title_of(data));
  const std::string json = script_safe(data);
  std::map<std::string, std::string_view> parts = report_files();
  parts["title"] = title;
  parts["data"] = json;
  const std::string palette = Json(method_palette()).dump();
  parts["palette"] = palette;
  return filled_page(parts.at("template.html"), parts);
}

}  // namespace longhaul
