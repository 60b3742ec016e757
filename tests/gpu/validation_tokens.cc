// Prints the sequences on which a training evaluates, as JSON [[token, …], …]: so that another program can
// evaluate an exported model on them and compare with metrics.csv.
//
//   validation_tokens CASE.json
#include "core/scenario/case.h"
#include "tests/gpu/tool_main.h"
#include "trainer/data/dataset.h"

int main(int argc, char** argv) {
  using namespace longhaul;
  return tool_main(argc, "validation_tokens", "CASE.json", 1, [&] {
    const Case config = read_case(argv[1]);
    const auto length = static_cast<std::ptrdiff_t>(config.train->model.context) + 1;
    Json sequences = Json::array();
    for (const Batch& batch : validation_batches(load_dataset(config).validation, *config.train))
      for (auto first = batch.tokens.begin(); first != batch.tokens.end(); first += length)
        sequences.push_back(std::vector<std::int64_t>(first, first + length));
    std::printf("%s\n", sequences.dump().c_str());
  });
}
