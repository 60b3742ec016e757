#include "analysis/live_run.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "analysis/case_record.h"
#include "analysis/run_directory.h"
#include "analysis/summary.h"
#include "core/case.h"
#include "core/errors.h"
#include "methods/common/registry.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

// Of what does not change any more the summary's record is as good.
bool is_final(const Json& record) {
  const std::string status = record.value("status", "");
  return status == "done" || status == "failed";
}

Json fresh_record(const std::string& run_folder, const std::string& begun_folder) {
  const Json resolved = read_json_or_null(begun_folder + "/case.json");
  if (!resolved.is_object()) return nullptr;
  const Case one = parse_case(resolved);
  const std::string folder = run_folder + "/cases/" + one.name, key = one.train ? training_key(one) : "";
  const std::string status = fs::exists(folder + "/done") ? "done" : "running";
  return case_record(one, folder, key.empty() ? "" : run_folder + "/train/" + key, status, key);
}

void take(Json record, std::vector<Json>& records) {
  const auto known = std::find_if(records.begin(), records.end(),
                                  [&](const Json& other) { return other["case"] == record["case"]; });
  if (known == records.end())
    records.push_back(std::move(record));
  else if (!is_final(*known))
    *known = std::move(record);
}

// A training stands for the case that is its example, until that case itself has begun.
void take_begun(const std::string& run_folder, const char* kind, std::vector<Json>& records) {
  std::vector<std::string> folders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(run_folder + "/" + kind, ignored))
    folders.push_back(entry.path().string());
  std::sort(folders.begin(), folders.end());
  for (const std::string& folder : folders) try {
      if (Json record = fresh_record(run_folder, folder); record.is_object())
        take(std::move(record), records);
    } catch (const std::exception&) {
      // Half a file, because it is being written at this moment: the next look has it.
    }
}

}  // namespace

bool is_live(const std::string& run_folder) {
  const int descriptor = open((run_folder + "/.lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool is_held = flock(descriptor, LOCK_SH | LOCK_NB) != 0;
  close(descriptor);
  return is_held;
}

RunDirectory open_live_run(const std::string& run_folder) {
  RunDirectory run;
  run.folder = run_folder;
  run.manifest = read_json_or_null(run_folder + "/manifest.json");
  if (!run.manifest.is_object())
    throw RunError(run_folder + ": is no run directory (it has no manifest.json)");
  run.written = read_json_or_null(run_folder + "/scenario.json");
  run.summary = {
      {"scenario", run.manifest.value("name", "")}, {"cases", Json::array()}, {"claims", Json::array()}};
  if (fs::exists(run_folder + "/summary.json")) run.summary = read_summary(run_folder);
  for (Json record : run.summary["cases"]) {
    if (record.value("status", "") == "interrupted") record["status"] = "waiting";
    run.records.push_back(std::move(record));
  }
  take_begun(run_folder, "cases", run.records);
  take_begun(run_folder, "train", run.records);
  return run;
}

}  // namespace longhaul
