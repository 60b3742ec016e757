// What measuring tools have printed, in files whose names say a pair, a table or nothing.
#include <cmath>

#include "planner/measured/formats.h"
#include "planner/measured/matrix.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace longhaul;

const measured::Known& known() {
  static const measured::Known both = {{{"warsaw", {"10.77.0.1", "10.78.0.1", "fd00:78::1"}},
                                        {"madrid", {"10.77.0.2", "10.78.0.2", "fd00:78::2"}}},
                                       {{"rtt", "0.5ms"}, {"throughput", "940Mbps"}},
                                       {{measured::pair_of("warsaw", "madrid"), "40ms"}},
                                       {},
                                       "300Mbps"};
  return both;
}

void check(std::optional<double> value) {
  if (value && !(*value > 0 && std::isfinite(*value))) abort();
}

}  // namespace

void longhaul::read_input(const std::string& input) {
  const measured::Sites sites(known().sites);
  for (const char* name : {"warsaw-madrid.txt", "table.csv", "warsaw.log"})
    allow_errors([&] {
      const std::vector<measured::Measured> found = measured::read({name, input}, sites);
      for (const measured::Measured& one : found) {
        check(one.together_bps);
        check(one.rtt_s);
        if (one.streams < 0 || one.pair[0] == one.pair[1]) abort();
      }
      std::vector<std::string> warnings;
      matrix_of(found, known(), warnings);
    });
}
