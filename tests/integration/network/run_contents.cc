#include "tests/integration/network/run_contents.h"

#include <filesystem>

#include "tests/integration/command.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

Json without_wall_times(Json manifest) {
  for (const char* key : {"command", "started", "finished", "wall_s", "wall_times_s", "options"})
    manifest.erase(key);
  return manifest;
}

// Without the folder and the manifest's wall times.
std::string without_wall_times_of_page(const std::string& html) {
  Page page = page_of(html);
  for (Json& run : page.data["runs"]) {
    run.erase("folder");
    run["manifest"] = without_wall_times(run["manifest"]);
  }
  return page.around + page.data.dump();
}

}  // namespace

Page page_of(const std::string& html) {
  const std::string tag = "<script id=\"data\" type=\"application/json\">";
  const std::size_t begin = html.find(tag) + tag.size(), end = html.find("</script>", begin);
  return {html.substr(0, begin) + html.substr(end), Json::parse(html.substr(begin, end - begin))};
}

std::map<std::string, std::string> contents_of(const std::string& run) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    const std::string name = entry.path().filename();
    if (!entry.is_regular_file() || name == "log.txt" || name == ".lock") continue;
    std::string& text = files[fs::relative(entry.path(), run)];
    text = read_text(entry.path());
    if (name == "manifest.json") text = without_wall_times(Json::parse(text)).dump();
    if (name == "report.html") text = without_wall_times_of_page(text);
  }
  return files;
}

std::string differences_of(const std::string& run, const std::string& other) {
  const std::map<std::string, std::string> ones = contents_of(run), others = contents_of(other);
  std::string names;
  for (const auto& [name, text] : ones)
    if (others.count(name) == 0)
      names += name + ": only in " + run + "\n";
    else if (others.at(name) != text)
      names += name + "\n";
  for (const auto& [name, text] : others)
    if (ones.count(name) == 0) names += name + ": only in " + other + "\n";
  return names;
}

}  // namespace longhaul
