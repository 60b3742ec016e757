// Packet results of the validation grid, hours of processor time, by hand:
//
//   packet_reference CASES FILE [--set NAME] [--number I] [--shard i/n] [--most-cpu-s 120]
//
// CASES is a file of such results, as results/reference/residuals/packets.csv: its rows are the cases. Appends
// to FILE what is not in it yet; may be killed and started again, and several may share a file with different
// shards. A run that stalls, crashes or takes too long is a row with that status and no times.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <set>

#include "core/base/errors.h"
#include "validation/grid/bench_main.h"
#include "validation/grid/grid_reference.h"

namespace longhaul {
namespace {

struct Options {
  std::string cases, file, set;
  int number = -1, shard = 1, shards = 1;
  unsigned most_cpu_s = 120;
};

Options parse(int argc, char** argv) {
  Options options;
  std::string shard = "1/1";
  CLI::App app{"packet results of the validation grid"};
  app.add_option("CASES", options.cases, "CSV file whose rows are the cases")->required()->check(CLI::ExistingFile);
  app.add_option("FILE", options.file, "CSV file, appended to")->required();
  app.add_option("--set", options.set, "this set of the grid only");
  app.add_option("--number", options.number, "this case of each set only");
  app.add_option("--shard", shard, "i/n: every n-th case, from the i-th on");
  app.add_option("--most-cpu-s", options.most_cpu_s, "processor time after which a case is given up");
  app.parse(argc, argv);
  if (std::sscanf(shard.c_str(), "%d/%d", &options.shard, &options.shards) != 2)
    throw RunError("--shard is i/n");
  return options;
}

bool is_asked(const GridCase& grid_case, const Options& options) {
  return (options.set.empty() || options.set == grid_case.set) &&
         (options.number < 0 || options.number == grid_case.number) &&
         grid_case.number % options.shards == options.shard - 1;
}

void run(const Options& options) {
  std::set<std::string> known;
  for (const ReferenceRow& row : read_reference(options.file)) known.insert(row_key(row.grid_case, row.seed));
  for (const ReferenceRow& wanted : read_reference(options.cases)) {
    if (!is_asked(wanted.grid_case, options) || !known.insert(row_key(wanted.grid_case, wanted.seed)).second)
      continue;
    const ReferenceRow row{wanted.grid_case, wanted.seed,
                           run_in_child(wanted.grid_case, "packet", static_cast<std::uint64_t>(wanted.seed),
                                        options.most_cpu_s)};
    append_reference(options.file, row);
    std::printf("%s %d seed %d: %s %.4f %.4f\n", row.grid_case.set.c_str(), row.grid_case.number, row.seed,
                row.outcome.status.c_str(), row.outcome.times.cold.last_s, row.outcome.times.again.last_s);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace longhaul

int main(int argc, char** argv) {
  return longhaul::bench_main([&] { longhaul::run(longhaul::parse(argc, argv)); });
}
