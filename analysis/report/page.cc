#include "analysis/report/page.h"

namespace longhaul {

std::string filled_page(std::string_view page, const std::map<std::string, std::string_view>& parts) {
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

// '<' cannot end or open anything inside the script block that holds the data.
std::string script_safe(const Json& json) {
  std::string safe;
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  safe.reserve(text.size());
  for (const char c : text)
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

}  // namespace longhaul
