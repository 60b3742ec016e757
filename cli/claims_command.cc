#include "cli/claims_command.h"

#include <algorithm>
#include <cstdio>

#include "analysis/replay_files.h"
#include "analysis/summary.h"
#include "analysis/verdict_matrix.h"
#include "cli/run_layout.h"
#include "core/errors.h"

namespace longhaul {
namespace {

struct JudgedScenario {
  Json written;
  std::string name;
  std::vector<Json> records;
};

void add_run(const std::string& folder, std::vector<JudgedScenario>& scenarios) {
  const Json summary = read_summary(folder), written = read_json_or_null(folder + "/scenario.json");
  if (!written.is_object()) throw RunError(folder + "/scenario.json: cannot be read");
  auto known = std::find_if(scenarios.begin(), scenarios.end(),
                            [&](const JudgedScenario& one) { return one.written == written; });
  if (known == scenarios.end())
    known = scenarios.insert(scenarios.end(), {written, summary.value("scenario", ""), {}});
  known->records.insert(known->records.end(), summary["cases"].begin(), summary["cases"].end());
}

}  // namespace

int claims_command(const std::vector<std::string>& runs, const std::string& out) {
  std::vector<JudgedScenario> scenarios;
  for (const std::string& run : runs) add_run(run, scenarios);
  std::string text;
  for (const JudgedScenario& one : scenarios) {
    const auto done = std::count_if(one.records.begin(), one.records.end(),
                                    [](const Json& record) { return record.value("status", "") == "done"; });
    text += "## " + one.name + "\n\n" + std::to_string(done) + " of " + std::to_string(one.records.size()) +
            " cases done.\n\n";
    for (const Json& claim : one.written.value("claims", Json::array()))
      text += verdict_markdown(claim, one.records);
  }
  if (out.empty())
    std::fputs(text.c_str(), stdout);
  else
    write_file(out, text);
  return 0;
}

}  // namespace longhaul
