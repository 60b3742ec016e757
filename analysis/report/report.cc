#include "analysis/report/report.h"

#include <map>
#include <string_view>

#include "analysis/palette.h"

namespace longhaul {

// Defined by longhaul_embed: the files of this folder and Chart.js, by name.
const std::map<std::string, std::string_view>& report_files();

namespace {

// '<' cannot end or open anything inside the script block that holds the data.
std::string script_safe(const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json)
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  return safe;
}

std::string html_safe(const std::string& text) {
  std::string safe;
  for (const char c : text)
    safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return safe;
}

std::string title_of(const Json& data) {
  std::string title;
  for (const Json& run : data["runs"]) title += (title.empty() ? "" : ", ") + run["name"].get<std::string>();
  return title + " – Longhaul report";
}

// One pass over the template: what is filled in is never searched for placeholders.
std::string fill(std::string_view page, const std::map<std::string, std::string_view>& parts) {
  std::string filled;
  std::size_t position = 0;
  for (std::size_t open; (open = page.find("{{", position)) != std::string_view::npos;) {
    const std::size_t close = page.find("}}", open);
    filled.append(page.substr(position, open - position));
    filled.append(parts.at(std::string(page.substr(open + 2, close - open - 2))));
    position = close + 2;
  }
  filled.append(page.substr(position));
  return filled;
}

}  // namespace

std::string report_html(const std::vector<std::string>& run_folders) {
  return report_page(report_data(run_folders));
}

std::string report_page(const Json& data) {
  const std::string title = html_safe(title_of(data));
  // Bytes that are no UTF-8 (a log line in an error) must not cost the report.
  const std::string json = script_safe(data.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::map<std::string, std::string_view> parts = report_files();
  parts["title"] = title;
  parts["data"] = json;
  const std::string palette = Json(method_palette()).dump();
  parts["palette"] = palette;
  return fill(parts.at("template.html"), parts);
}

}  // namespace longhaul
