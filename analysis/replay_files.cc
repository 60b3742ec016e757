#include "analysis/replay_files.h"

#include <fstream>

namespace longhaul {

Json read_json_or_null(const std::string& file) {
  std::ifstream in(file);
  if (!in) return nullptr;
  Json json = Json::parse(in, nullptr, false);
  return json.is_discarded() ? Json(nullptr) : json;
}

}  // namespace longhaul
