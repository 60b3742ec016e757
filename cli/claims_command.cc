#include "cli/claims_command.h"

#include <algorithm>
#include <cstdio>

#include "analysis/run_directory.h"
#include "analysis/verdict_matrix.h"
#include "cli/run_outputs.h"
#include "core/errors.h"

namespace longhaul {
namespace {

// What there is of the scenario.
std::string done_in_words(const RunDirectory& run) {
  const auto done = std::count_if(run.records.begin(), run.records.end(),
                                  [](const Json& record) { return record.value("status", "") == "done"; });
  std::string text =
      std::to_string(done) + " of " + std::to_string(run.records.size() + run.missing_cases) + " cases done.";
  if (!run.missing_shards.empty())
    text += " Not given: " + join(run.missing_shards, ", ") +
            "; what is said below is of the cases that are there, and no verdict on the claim.";
  return text;
}

}  // namespace

int claims_command(const std::vector<std::string>& runs, const std::string& out) {
  const RunDirectories opened = open_runs(runs);
  for (const std::string& problem : opened.problems) std::fprintf(stderr, "warning: %s\n", problem.c_str());
  std::string text;
  for (const RunDirectory& run : opened.runs) {
    if (!run.written.is_object()) throw RunError(run.folder + "/scenario.json: cannot be read");
    text += "## " + run.summary.value("scenario", "") + "\n\n" + done_in_words(run) + "\n\n";
    for (const Json& claim : run.written.value("claims", Json::array()))
      text += verdict_markdown(claim, run.records);
  }
  if (out.empty())
    std::fputs(text.c_str(), stdout);
  else
    write_file(out, text);
  return 0;
}

}  // namespace longhaul
