// What the fuzz targets share. Each defines read_input; libFuzzer calls it with inputs that it makes up
// (preset fuzz, libfuzzer_entry.cc), replay_main.cc with those of the corpus in every build.
//
// What a reader may do with any input: return, or throw InputError or RunError. Everything else, among it the
// words of a library and a broken invariant, leaves the target and ends the fuzzer.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "tests/support/files.h"

namespace longhaul {

void read_input(const std::string& input);

inline std::string text_of_input(const std::uint8_t* data, std::size_t size) {
  return std::string(reinterpret_cast<const char*>(data), size);
}

// One folder a process, in memory where the machine has such a place; removed at exit.
inline const std::string& scratch_folder() {
  static const std::unique_ptr<TemporaryFolder> folder = [] {
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
    return std::make_unique<TemporaryFolder>();
  }();
  return folder->path;
}

inline std::string file_with(const std::string& name, std::string_view bytes) {
  const std::string file = scratch_folder() + "/" + name;
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return file;
}

// An error without words is one that nobody can act on.
template <typename Read>
void allow_errors(const Read& read) {
  try {
    read();
  } catch (const InputError& error) {
    if (error.parts().found.empty()) abort();
  } catch (const RunError& error) {
    if (std::string(error.what()).empty()) abort();
  }
}

inline void take(const std::string& input) {
  allow_errors([&] { read_input(input); });
}

// Of an input that stands for several files: "=== NAME\n" begins each.
inline std::vector<std::pair<std::string, std::string>> files_in(const std::string& input) {
  std::vector<std::pair<std::string, std::string>> files;
  const std::string mark = "=== ";
  for (std::size_t at = 0; at < input.size();) {
    std::size_t end = input.find("\n" + mark, at);
    end = end == std::string::npos ? input.size() : end + 1;
    const std::string_view part = std::string_view(input).substr(at, end - at);
    const std::size_t line = part.find('\n');
    if (part.substr(0, mark.size()) == mark && line != std::string_view::npos)
      files.emplace_back(part.substr(mark.size(), line - mark.size()), part.substr(line + 1));
    at = end;
  }
  return files;
}

}  // namespace longhaul
