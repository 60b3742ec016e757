// How far the flow fidelity is from packets, beside latency + bytes / rate and SimGrid's default model: the
// tables of results/reference/residuals, from packet results that are kept (packet_reference writes them). By
// hand:
//
//   residuals --reference results/reference/residuals/packets.csv [--set host] [--half judge] [--worst 10]
//             [--csv FILE] [--figure-data FILE]
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "core/base/errors.h"
#include "validation/grid/bench_main.h"
#include "validation/grid/residual_tables.h"
#ifdef LONGHAUL_SIMGRID
#include "validation/grid/simgrid_exchange.h"
#endif

namespace longhaul {
namespace {

struct Options {
  std::string reference, csv, figure_data, half = "judge";
  std::vector<std::string> sets;
  std::size_t worst = 0;
};

Options parse(int argc, char** argv) {
  Options options;
  CLI::App app{"residuals of the flow fidelity against packets"};
  app.add_option("--reference", options.reference, "packet results")->required()->check(CLI::ExistingFile);
  app.add_option("--set", options.sets, "these sets of the grid only");
  app.add_option("--half", options.half, "of the tables by axis: train, judge or both");
  app.add_option("--worst", options.worst, "list that many of the worst exchanges of each set");
  app.add_option("--csv", options.csv, "write every exchange");
  app.add_option("--figure-data", options.figure_data, "write what the figure shows");
  app.parse(argc, argv);
  return options;
}

std::function<double(const GridCase&)> simgrid() {
#ifdef LONGHAUL_SIMGRID
  return simgrid_default_s;
#else
  return {};
#endif
}

bool is_in(const std::vector<std::string>& sets, const std::string& name) {
  return sets.empty() || std::find(sets.begin(), sets.end(), name) != sets.end();
}

void print_failures(const std::vector<ReferenceCase>& cases) {
  std::map<std::string, std::map<std::string, int>> failures;
  for (const ReferenceCase& reference_case : cases)
    for (const std::string& status : reference_case.failures)
      ++failures[reference_case.grid_case.set][status];
  for (const auto& [set, counts] : failures)
    for (const auto& [status, count] : counts)
      std::printf("%s: %d packet runs %s, left out\n", set.c_str(), count, status.c_str());
  std::printf("\n");
}

void run(const Options& options) {
  std::vector<ReferenceCase> cases;
  for (const ReferenceCase& reference_case : reference_cases(read_reference(options.reference)))
    if (is_in(options.sets, reference_case.grid_case.set)) cases.push_back(reference_case);
  const std::vector<Entry> entries = entries_of(cases, simgrid());
  print_failures(cases);
  std::printf("%s\n", settings_table(entries).c_str());
  for (const std::string& set : set_names()) {
    std::vector<Entry> shown;
    for (const Entry& entry : entries)
      if (entry.grid_case.set == set &&
          (options.half == "both" || entry.grid_case.is_judge() == (options.half == "judge")))
        shown.push_back(entry);
    if (shown.empty()) continue;
    std::printf("%s, %s:\n\n%s\n%s\n", set.c_str(), options.half.c_str(), axes_table(shown).c_str(),
                worst_table(shown, options.worst).c_str());
  }
  if (!options.csv.empty()) write_entries(entries, options.csv);
  if (!options.figure_data.empty()) write_figure_data(entries, options.figure_data);
}

}  // namespace
}  // namespace longhaul

int main(int argc, char** argv) {
  return longhaul::bench_main([&] { longhaul::run(longhaul::parse(argc, argv)); });
}
