// Measured matrices of sites.
#include "net/topologies/matrix.h"
#include "tests/fuzz/fuzz.h"

void longhaul::read_input(const std::string& input) {
  const Matrix matrix = Matrix::parse(input, "matrix.json");
  for (const std::string& site : matrix.sites())
    for (const std::string& other : matrix.sites())
      if (site != other && !(matrix.between(site, other).rtt > 0)) abort();
}
