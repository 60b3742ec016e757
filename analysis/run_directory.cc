#include "analysis/run_directory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "analysis/shards.h"
#include "analysis/summary.h"
#include "core/errors.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

bool is_record(const Json& record) {
  return record.is_object() && record.contains("case") && record["case"].is_string();
}

RunDirectory open_run(const std::string& folder, std::vector<std::string>& problems) {
  RunDirectory run{folder,
                   read_summary(folder),
                   read_json_or_null(folder + "/manifest.json"),
                   read_json_or_null(folder + "/scenario.json"),
                   {}};
  if (!run.manifest.is_object()) run.manifest = Json::object();
  std::size_t damaged = 0;
  for (const Json& record : run.summary["cases"])
    if (is_record(record))
      run.records.push_back(record);
    else
      ++damaged;
  if (damaged)
    problems.push_back(folder + "/summary.json: " + std::to_string(damaged) +
                       " of its cases are no records (no object with a \"case\"); they are left out");
  else if (run.records.empty())
    problems.push_back(folder + ": has no cases yet");
  return run;
}

std::string place(const std::string& folder) {
  std::error_code ignored;
  const fs::path path = fs::weakly_canonical(folder, ignored);
  return (path.filename().empty() ? path.parent_path() : path).string();
}

}  // namespace

std::string RunDirectory::folder_of(const Json& record) const {
  const auto shard = shard_folders.find(record["case"].get<std::string>());
  return shard == shard_folders.end() ? folder : shard->second;
}

std::string RunDirectory::case_folder(const Json& record) const {
  return folder_of(record) + "/cases/" + record["case"].get<std::string>();
}

std::string RunDirectory::train_folder(const Json& record) const {
  const Json key = record.value("training", Json());
  const bool is_trained = key.is_string() && !key.get<std::string>().empty();
  return is_trained ? folder_of(record) + "/train/" + key.get<std::string>() : "";
}

RunDirectories open_runs(const std::vector<std::string>& folders) {
  RunDirectories opened;
  std::vector<std::string> places;
  for (const std::string& folder : folders) {
    if (std::find(places.begin(), places.end(), place(folder)) != places.end()) {
      opened.problems.push_back(folder + ": is given twice; it is used once");
      continue;
    }
    places.push_back(place(folder));
    try {
      opened.runs.push_back(open_run(folder, opened.problems));
    } catch (const RunError& error) {
      opened.problems.push_back(error.what());
    }
  }
  join_shards(opened.runs);
  const bool any = std::any_of(opened.runs.begin(), opened.runs.end(),
                               [](const RunDirectory& run) { return !run.records.empty(); });
  if (!any)
    throw InputError("", opened.problems.empty() ? "no run directory was given" : join(opened.problems, "; "),
                     "folders that longhaul run has written");
  return opened;
}

std::string cut_off(const std::string& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in || in.tellg() <= 0) return "";
  in.seekg(-1, std::ios::end);
  if (in.get() == '\n') return "";
  in.clear();
  in.seekg(0);
  const auto lines =
      1 + std::count(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>(), '\n');
  return file + ": is cut off, its last line (" + std::to_string(lines) + ") has no end";
}

Json read_json_or_null(const std::string& file) {
  std::ifstream in(file);
  if (!in) return nullptr;
  Json json = Json::parse(in, nullptr, false);
  return json.is_discarded() ? Json(nullptr) : json;
}

}  // namespace longhaul
