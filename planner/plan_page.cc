#include "analysis/report/page.h"
#include "planner/plan_result.h"

namespace longhaul {

// Defined by longhaul_embed: the files of planner/page/, by name.
const std::map<std::string, std::string_view>& plan_page_files();

std::string plan_page(const Json& data) {
  std::map<std::string, std::string_view> parts = report_files();
  for (const auto& [name, text] : plan_page_files()) parts[name] = text;
  return filled_page("plan.html", parts, data.at("name").get<std::string>() + " – Longhaul plan", data);
}

}  // namespace longhaul
