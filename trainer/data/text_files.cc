#include "trainer/data/text_files.h"

#include <fstream>
#include <iterator>

#include "core/errors.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/options.h"

namespace longhaul {

TokenText read_bytes(const std::vector<std::string>& files, std::uint64_t hash) {
  TokenText text;
  text.hash = hash;
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (!in) throw RunError(file + ": cannot be read");
    text.hash = fnv1a(bytes, text.hash);
    for (const char byte : bytes) text.tokens.push_back(static_cast<unsigned char>(byte));
  }
  return text;
}

std::vector<std::string> files_of(const std::vector<std::string>& globs, const std::string& folder,
                                  const std::string& path) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < globs.size(); ++i) {
    const std::vector<std::string> files = files_matching(globs[i], folder);
    if (files.empty())
      throw InputError(element_path(path, i), "\"" + globs[i] + "\" matches no file",
                       "a glob that matches files", "relative patterns start in " + folder);
    all.insert(all.end(), files.begin(), files.end());
  }
  return all;
}

}  // namespace longhaul
