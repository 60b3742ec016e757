// What the flow fidelity, latency + bytes / rate and SimGrid's default model say of each exchange of the grid,
// beside packet results that are kept (packet_reference writes them): results/reference/residuals/exchanges.csv,
// of which residuals.py there makes the tables and the figure. By hand:
//
//   residuals REFERENCE OUT
#include <CLI/CLI.hpp>

#include "validation/grid/bench_main.h"
#include "validation/grid/residual_entries.h"
#ifdef LONGHAUL_SIMGRID
#include "validation/grid/simgrid_exchange.h"
#endif

namespace longhaul {
namespace {

void run(int argc, char** argv) {
  std::string reference, out;
  CLI::App app{"each exchange of the validation grid in every model"};
  app.add_option("REFERENCE", reference, "packet results")->required()->check(CLI::ExistingFile);
  app.add_option("OUT", out, "a CSV file")->required();
  app.parse(argc, argv);
#ifdef LONGHAUL_SIMGRID
  const auto simgrid_s = simgrid_default_s;
#else
  const std::function<double(const GridCase&)> simgrid_s;
#endif
  write_entries(entries_of(reference_cases(read_reference(reference)), simgrid_s), out);
}

}  // namespace
}  // namespace longhaul

int main(int argc, char** argv) {
  return longhaul::bench_main([&] { longhaul::run(argc, argv); });
}
