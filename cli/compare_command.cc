#include "cli/compare_command.h"

#include <cstdio>
#include <filesystem>

#include "analysis/comparison/render.h"
#include "cli/run_outputs.h"

namespace longhaul {
namespace {

std::string format_of(const CompareOptions& options) {
  if (!options.format.empty()) return options.format;
  const std::string ending = std::filesystem::path(options.out).extension().string();
  if (ending == ".md") return "markdown";
  return ending == ".csv" ? "csv" : ending == ".json" ? "json" : "text";
}

std::string rendered(const ComparisonTable& table, const std::string& format) {
  if (format == "markdown") return comparison_markdown(table);
  if (format == "csv") return comparison_csv(table);
  return format == "json" ? comparison_json(table) : comparison_text(table);
}

}  // namespace

int compare_command(const CompareOptions& options) {
  RunDirectories opened = open_runs(options.runs);
  ComparisonTable table = compare_runs(opened.runs, options.request);
  for (const std::string& problem : opened.problems) std::fprintf(stderr, "warning: %s\n", problem.c_str());
  table.notes.insert(table.notes.begin(), opened.problems.begin(), opened.problems.end());
  const std::string text = rendered(table, format_of(options));
  if (options.out.empty())
    std::fputs(text.c_str(), stdout);
  else
    write_file(options.out, text);
  return 0;
}

}  // namespace longhaul
