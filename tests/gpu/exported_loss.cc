// Prints {"loss": …}: the mean loss of an exported model on sequences of tokens, by the slow reference that
// reads nothing but the exported folder.
//
//   exported_loss EXPORTED TOKENS.json      # TOKENS.json: the output of validation_tokens
#include "tests/gpu/tool_main.h"
#include "tests/unit/trainer/exported_llama.h"

int main(int argc, char** argv) {
  using namespace longhaul;
  return tool_main(argc, "exported_loss", "EXPORTED TOKENS.json", 2, [&] {
    const auto sequences = Json::parse(std::ifstream(argv[2])).get<std::vector<std::vector<std::int64_t>>>();
    const ExportedLlama model(argv[1]);
    double sum = 0;
    for (const std::vector<std::int64_t>& tokens : sequences) sum += model.loss(tokens);
    std::printf("{\"loss\": %.9g}\n", sum / static_cast<double>(sequences.size()));
  });
}
