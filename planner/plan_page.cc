#include "analysis/palette.h"
#include "analysis/report/page.h"
#include "planner/plan_result.h"

namespace longhaul {

// Defined by longhaul_embed: the files of planner/page/, by name.
const std::map<std::string, std::string_view>& plan_page_files();

std::string plan_page(const Json& data) {
  std::map<std::string, std::string_view> parts = report_files();
  for (const auto& [name, text] : plan_page_files()) parts[name] = text;
  const std::string title = html_safe(data.at("name").get<std::string>() + " – Longhaul plan"),
                    json = script_safe(data), palette = Json(method_palette()).dump();
  parts["title"] = title;
  parts["data"] = json;
  parts["palette"] = palette;
  return filled_page(parts.at("plan.html"), parts);
}

}  // namespace longhaul
