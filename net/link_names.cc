#include "net/link_names.h"

#include <fnmatch.h>

#include <algorithm>

#include "core/errors.h"

namespace longhaul {
namespace {

// A thousand names help nobody.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 12;
  if (names.size() <= kMost) return join(names);
  return join({names.begin(), names.begin() + kMost}) + " and " + std::to_string(names.size() - kMost) +
         " more";
}

[[noreturn]] void refuse(const std::string& name, const char* what, const std::vector<std::string>& names,
                         const std::string& path) {
  const std::string near = nearest(name, names);
  throw InputError(path, "\"" + name + "\" names no " + what, some_of(names),
                   near.empty() ? "" : "did you mean \"" + near + "\"?");
}

}  // namespace

std::vector<int> links_named(const Topology& topology, const std::string& pattern, const std::string& path) {
  std::vector<int> found;
  std::vector<std::string> names;
  for (const Link& link : topology.links()) {
    if (link.name == pattern || ::fnmatch(pattern.c_str(), link.name.c_str(), 0) == 0)
      found.push_back(static_cast<int>(names.size()));
    names.push_back(link.name);
  }
  if (found.empty()) refuse(pattern, "link", names, path);
  return found;
}

int node_named(const Topology& topology, const std::string& name, const std::string& path) {
  std::vector<std::string> names;
  for (int node = 0; node < topology.nodes(); ++node) names.push_back(topology.node_name(node));
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) refuse(name, "node", names, path);
  return static_cast<int>(found - names.begin());
}

}  // namespace longhaul
