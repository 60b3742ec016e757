#include "analysis/replay_files.h"

#include <fstream>

namespace longhaul {

std::set<std::string> overlapped_rules(const std::string& case_folder) {
  std::ifstream in(case_folder + "/trace.jsonl");
  std::string line;
  std::getline(in, line);
  const Json header = Json::parse(line, nullptr, false);
  std::set<std::string> names;
  if (!header.is_object() || !header.contains("rules")) return names;
  for (const Json& rule : header["rules"])
    if (rule.value("overlap_steps", 0) > 0) names.insert(rule.value("name", ""));
  return names;
}

Json read_json_or_null(const std::string& file) {
  std::ifstream in(file);
  if (!in) return nullptr;
  Json json = Json::parse(in, nullptr, false);
  return json.is_discarded() ? Json(nullptr) : json;
}

}  // namespace longhaul
