// Packet results of the validation grid, hours of processor time, by hand:
//
//   packet_reference FILE SET... [--shard i/n] [--most-cpu-s 120] [--list]
//
// Appends to FILE what is not in it yet; may be killed and started again, and several may share a file with
// different shards. A run that stalls, crashes or takes too long is a row with that status and no times.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <set>

#include "core/base/errors.h"
#include "validation/grid/bench_main.h"
#include "validation/grid/grid_reference.h"

namespace longhaul {
namespace {

struct Options {
  std::string file;
  std::vector<std::string> sets;
  int shard = 1, shards = 1;
  unsigned most_cpu_s = 120;
  bool is_list = false;
};

Options parse(int argc, char** argv) {
  Options options;
  std::string shard = "1/1";
  CLI::App app{"packet results of the validation grid"};
  app.add_option("file", options.file, "CSV file, appended to")->required();
  app.add_option("sets", options.sets, "sets of the grid: " + join(set_names()))->required();
  app.add_option("--shard", shard, "i/n: every n-th case, from the i-th on");
  app.add_option("--most-cpu-s", options.most_cpu_s, "processor time after which a case is given up");
  app.add_flag("--list", options.is_list, "print the cases and run none");
  app.parse(argc, argv);
  if (std::sscanf(shard.c_str(), "%d/%d", &options.shard, &options.shards) != 2)
    throw RunError("--shard is i/n");
  return options;
}

void run(const Options& options) {
  std::set<std::string> known;
  for (const ReferenceRow& row : read_reference(options.file)) known.insert(row_key(row.grid_case, row.seed));
  for (const std::string& set : options.sets)
    for (const GridCase& grid_case : draw_set(set)) {
      if (options.is_list) {
        std::printf("%s\n", join(cells_of(grid_case), ",").c_str());
        continue;
      }
      if (grid_case.number % options.shards != options.shard - 1) continue;
      for (int seed = 1; seed <= grid_case.seeds; ++seed) {
        if (known.count(row_key(grid_case, seed))) continue;
        const ReferenceRow row{
            grid_case, seed,
            run_in_child(grid_case, "packet", static_cast<std::uint64_t>(seed), options.most_cpu_s)};
        append_reference(options.file, row);
        std::printf("%s %d seed %d: %s %.4f %.4f\n", set.c_str(), grid_case.number, seed,
                    row.outcome.status.c_str(), row.outcome.times.cold.last_s,
                    row.outcome.times.again.last_s);
        std::fflush(stdout);
      }
    }
}

}  // namespace
}  // namespace longhaul

int main(int argc, char** argv) {
  return longhaul::bench_main([&] { longhaul::run(longhaul::parse(argc, argv)); });
}
