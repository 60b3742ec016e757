#include "cli/scenario_list.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "core/options.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

void add(const fs::path& file, std::vector<ScenarioInfo>& found) {
  std::ifstream in(file);
  const Json json = Json::parse(in, nullptr, false, true);
  if (json.is_discarded())
    found.push_back({file.string(), "(is not JSON)"});
  else if (json.is_object() && json.contains("methods") && json["methods"].is_array())
    found.push_back({file.string(), first_sentence(json.value("description", ""))});
}

}  // namespace

std::string first_sentence(const std::string& text) {
  for (std::size_t i = 0; i + 2 < text.size(); ++i)
    if (std::string(".?!").find(text[i]) != std::string::npos && text[i + 1] == ' ' &&
        std::isupper(static_cast<unsigned char>(text[i + 2])))
      return text.substr(0, i + 1);
  return text;
}

std::vector<ScenarioInfo> scenarios_in(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    const bool same_folder = a.parent_path() == b.parent_path();
    return same_folder ? a < b : a.parent_path() < b.parent_path();
  });
  std::vector<ScenarioInfo> found;
  for (const fs::path& file : files) add(file, found);
  return found;
}

std::string scenario_folder() {
  if (fs::is_directory("scenarios")) return "scenarios";
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path beside = program.parent_path().parent_path().parent_path() / "scenarios";
  return !error && fs::is_directory(beside) ? beside.string() : "";
}

}  // namespace longhaul
