#include "cli/export_chakra_command.h"

#include <cstdio>
#include <filesystem>
#include <vector>

#include "analysis/chakra_export.h"
#include "analysis/run_directory.h"
#include "cli/run_outputs.h"
#include "core/errors.h"

namespace longhaul {
namespace {

// The folder of the case; a run with several needs its name.
std::string chosen_folder(const RunDirectory& run, const std::string& case_name) {
  std::vector<std::string> done;
  for (const Json& record : run.records) {
    if (record.value("status", "") != "done") continue;
    const std::string name = record["case"];
    if (name == case_name || (case_name.empty() && run.records.size() == 1)) return run.case_folder(record);
    done.push_back(name);
  }
  throw InputError(
      {run.folder, "--case",
       case_name.empty() ? "the run has several cases" : "no case that is done is called " + case_name,
       done.empty() ? "no case of this run is done" : join(done, "; "), ""});
}

}  // namespace

int export_chakra_command(const std::string& run, const std::string& case_name, const std::string& out) {
  const RunDirectories opened = open_runs({run});
  const std::vector<Json> graphs = chakra_graphs(chosen_folder(opened.runs[0], case_name));
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error) throw RunError(out + ": cannot be made: " + error.message());
  for (std::size_t r = 0; r < graphs.size(); ++r)
    write_file(out + "/chakra." + std::to_string(r) + ".json", graphs[r].dump(1) + "\n");
  std::printf("%zu traces: %s/chakra.*.json\n", graphs.size(), out.c_str());
  return kDone;
}

}  // namespace longhaul
