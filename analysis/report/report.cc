#include "analysis/report/report.h"

#include "analysis/palette.h"
#include "core/base/ranges.h"

namespace longhaul {
namespace {

// '<' cannot end or open anything inside the script block that holds the data. Bytes that are no UTF-8 (a log
// line in an error) do not cost the page.
std::string script_safe(const Json& json) {
  std::string safe;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace))
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  return safe;
}

}  // namespace

std::string filled_page(const std::string& name, std::map<std::string, std::string_view> parts,
                        const std::string& title, const Json& data, const std::vector<std::string>& methods) {
  const std::string heading = html_safe(title), json = script_safe(data),
                    colors = script_safe(method_colors(methods));
  parts["title"] = heading;
  parts["data"] = json;
  parts["colors"] = colors;
  const std::string_view page = parts.at(name);
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

std::string html_safe(const std::string& text) {
  std::string safe;
  for (const char c : text)
    safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return safe;
}

std::string report_page(const Json& data) {
  std::string title;
  for (const Json& run : data["runs"]) title += (title.empty() ? "" : ", ") + run["name"].get<std::string>();
  std::vector<std::string> labels;
  for (const Json& one : data["cases"]) add_new(one["label"].get<std::string>(), labels);
  return filled_page("template.html", report_files(), title + " – Longhaul report", data, labels);
}

}  // namespace longhaul
