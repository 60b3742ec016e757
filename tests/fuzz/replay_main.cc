// Gives a fuzz target every file of its corpus, and each cut to half and with each 97th byte turned: what the
// fuzzer has found once stays found in every build, without libFuzzer.
#include <cstdio>

#include "tests/fuzz/fuzz.h"

int main(int argc, char** argv) {
  int inputs = 0;
  for (int i = 1; i < argc; ++i)
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::string bytes = longhaul::read_text(entry.path().string());
      const auto give = [&](const std::string& one) {
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(one.data()), one.size());
        ++inputs;
      };
      give(bytes);
      give(bytes.substr(0, bytes.size() / 2));
      for (std::size_t k = 0; k < bytes.size(); k += 97) bytes[k] = static_cast<char>(bytes[k] ^ 1);
      give(bytes);
    }
  std::printf("%d inputs\n", inputs);
  return inputs > 0 ? 0 : 1;
}
