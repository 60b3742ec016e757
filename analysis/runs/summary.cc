#include "analysis/runs/summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "analysis/run_files.h"
#include "core/base/csv.h"
#include "core/base/errors.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

void join_table(const std::string& run_folder, const std::string& name, const std::string& columns,
                const std::vector<std::string>& case_names) {
  ReplacedFile joined(run_folder + "/" + name);
  joined.stream() << "case," << columns << '\n';
  for (const std::string& text : case_names) {
    const std::string file = run_folder + "/cases/" + text + "/" + name;
    if (!fs::exists(file)) continue;
    CsvStream rows(file, {});
    if (rows.has_header() && rows.line() != columns)
      throw DamagedFile(fmt::format("{}: has the columns {}, not {}", file, rows.line(), columns));
    const std::string leading = csv_quoted(text) + ",";
    while (rows.next()) joined.stream() << leading << rows.line() << '\n';
  }
  joined.commit();
}

}  // namespace

void write_summary(const std::string& run_folder, const std::string& scenario_name,
                   const std::vector<Json>& records, const Json& claims, std::size_t scenario_cases) {
  const Json summary = {{"format", kSummaryFormat},
                        {"scenario", scenario_name},
                        {"scenario_cases", std::max(scenario_cases, records.size())},
                        {"cases", records},
                        {"claims", claims}};
  write_file(run_folder + "/summary.json", summary.dump(2) + "\n");
}

Json read_summary(const std::string& run_folder) {
  const std::string file = run_folder + "/summary.json";
  const Json summary = [&] {
    try {
      return read_json_or_null(file, summary_declaration());
    } catch (const DamagedFile& error) {
      throw DamagedFile(
          fmt::format("{} (it is damaged; longhaul run --resume writes it anew)", error.what()));
    }
  }();
  if (summary.is_null()) throw DamagedFile(run_folder + ": is no run directory (it has no summary.json)");
  const int format = summary["format"];
  if (format > kSummaryFormat)
    throw DamagedFile(fmt::format("{}: was written by a newer Longhaul (format {}, this one reads up to {})",
                                  run_folder, format, kSummaryFormat));
  return summary;
}

void join_tables(const std::string& run_folder, const std::vector<std::string>& case_names) {
  join_table(run_folder, "metrics.csv",
             "step,phase,replica,simulated_s,loss,loss_of_mean,weight_spread,bytes_sent", case_names);
  join_table(run_folder, "exchanges.csv", "step,replica,exchange,ready_s,start_s,done_s,bytes,awaited_s",
             case_names);
  join_table(run_folder, "links.csv", "link,direction,bytes,busy_s", case_names);
}

}  // namespace longhaul
