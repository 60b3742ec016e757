// Measured matrices of sites.
#include "net/topologies/matrix.h"
#include "tests/fuzz/fuzz.h"

using namespace longhaul;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return allow_errors([&] {
    const Matrix matrix = Matrix::parse(text_of_input(data, size), "matrix.json");
    for (const std::string& text : matrix.sites())
      for (const std::string& other : matrix.sites())
        if (text != other && !(matrix.between(text, other).rtt > 0)) abort();
  });
}
