// A fuzz target without libFuzzer: it gets every file of its corpus, each also cut to half and with each 97th
// byte turned, so that what the fuzzer has found once stays found in every build.
//
//   NAME_fuzz FOLDER...                         that
//   NAME_fuzz --mutate SECONDS SEED FOLDER...   and for so long changed ones (mutations.h)
//
// NAME_fuzz.input of the temporary folder keeps the one at work, where a signal leaves it.
#include <fcntl.h>

#include <chrono>
#include <set>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutations.h"

namespace {

std::vector<std::string> files_of(int count, char** folders) {
  std::set<std::filesystem::path> paths;
  for (int i = 0; i < count; ++i)
    for (const auto& entry : std::filesystem::directory_iterator(folders[i])) paths.insert(entry.path());
  std::vector<std::string> texts;
  for (const auto& path : paths) texts.push_back(longhaul::read_text(path.string()));
  return texts;
}

long long give_corpus(const std::vector<std::string>& corpus) {
  for (std::string bytes : corpus) {
    longhaul::take(bytes);
    longhaul::take(bytes.substr(0, bytes.size() / 2));
    for (std::size_t k = 0; k < bytes.size(); k += 97) bytes[k] = static_cast<char>(bytes[k] ^ 1);
    longhaul::take(bytes);
  }
  return 3 * static_cast<long long>(corpus.size());
}

long long give_mutations(const std::vector<std::string>& corpus, double seconds, std::uint64_t seed,
                         const std::string& kept) {
  using Clock = std::chrono::steady_clock;
  const int at_work = open(kept.c_str(), O_WRONLY | O_CREAT, 0600);
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  long long count = 0;
  for (std::string input; Clock::now() < end; ++count) {
    // A change of a right input, or one more of what has been changed already.
    if (count % 4 == 0) input = corpus[static_cast<std::size_t>(count / 4) % corpus.size()];
    input = longhaul::mutated(input, seed + static_cast<std::uint64_t>(count));
    // Where it cannot be kept, all else goes on.
    static_cast<void>(pwrite(at_work, input.data(), input.size(), 0) < 0 ||
                      ftruncate(at_work, static_cast<off_t>(input.size())) != 0);
    alarm(30);
    longhaul::take(input);
  }
  alarm(0);
  close(at_work);
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  const bool mutates = argc > 4 && std::string(argv[1]) == "--mutate";
  const std::vector<std::string> corpus =
      mutates ? files_of(argc - 4, argv + 4) : files_of(argc - 1, argv + 1);
  long long inputs = give_corpus(corpus);
  if (mutates && !corpus.empty())
    inputs += give_mutations(
        corpus, std::atof(argv[2]), std::strtoull(argv[3], nullptr, 10),
        std::filesystem::temp_directory_path() / (std::filesystem::path(argv[0]).filename() += ".input"));
  std::printf("%lld inputs\n", inputs);
  return inputs > 0 ? 0 : 1;
}
