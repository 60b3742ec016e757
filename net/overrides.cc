#include "net/overrides.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/json.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

// A link and whether `up` is its way backward: it ends at the replica that the override names.
struct Chosen {
  int link;
  bool is_turned;
};

std::vector<Chosen> chosen_by(const LinkOverride& by, const Topology& topology, const std::string& path) {
  std::vector<Chosen> chosen;
  if (!by.link.empty()) {
    for (const int link : links_named(topology, by.link, path + ".link")) chosen.push_back({link, false});
    return chosen;
  }
  const auto is_meant = [&](int node) { return node >= by.replicas.first && node <= by.replicas.second; };
  for (int i = 0; i < static_cast<int>(topology.links().size()); ++i) {
    const Link& link = topology.links()[as_index(i)];
    if (is_meant(link.first)) chosen.push_back({i, false});
    if (!is_meant(link.first) && is_meant(link.second)) chosen.push_back({i, true});
  }
  return chosen;
}

void check(const LinkOverride& change, const std::string& link, const std::string& path) {
  for (const std::optional<double>& rate : {change.up, change.down})
    if (rate && !(*rate > 0))
      throw InputError(path, fmt::format("found a rate of {} for the link {}", human_rate(*rate), link),
                       "more than 0", "a link that carries nothing is no link");
  if (change.delay && !(*change.delay >= 0))
    throw InputError(path,
                     fmt::format("found a delay of {} for the link {}", human_duration(*change.delay), link),
                     "at least 0");
}

[[noreturn]] void refuse(const std::string& name, const char* what, const std::vector<std::string>& names,
                         const std::string& path) {
  constexpr std::size_t kMostShown = 12;  // a thousand names would not help
  throw InputError(path, fmt::format("\"{}\" names no {}", name, what), join_some(names, kMostShown),
                   did_you_mean(name, names, fmt::format("links.csv of a run has its {}s", what)));
}

}  // namespace

void apply_overrides(const std::vector<LinkOverride>& overrides, Topology& topology) {
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const LinkOverride& written = overrides[i];
    const std::string path = element_path("network.overrides", i);
    for (const Chosen& change : chosen_by(written, topology, path)) {
      Link link = topology.links()[as_index(change.link)];
      check(written, link.name, path);
      double& up = change.is_turned ? link.rate_backward : link.rate_forward;
      double& down = change.is_turned ? link.rate_forward : link.rate_backward;
      up = written.up.value_or(up);
      down = written.down.value_or(down);
      link.delay_s = written.delay.value_or(link.delay_s);
      topology.change_link(change.link, link);
    }
  }
}

std::vector<int> links_named(const Topology& topology, const std::string& pattern, const std::string& path) {
  std::vector<std::string> names;
  std::vector<int> exact, matching;
  for (int i = 0; i < static_cast<int>(topology.links().size()); ++i) {
    names.push_back(topology.links()[as_index(i)].name);
    if (names.back() == pattern) exact.push_back(i);
    if (::fnmatch(pattern.c_str(), names.back().c_str(), 0) == 0) matching.push_back(i);
  }
  if (exact.empty() && matching.empty()) refuse(pattern, "link", names, path);
  return exact.empty() ? matching : exact;
}

int node_named(const Topology& topology, const std::string& name, const std::string& path) {
  std::vector<std::string> names;
  for (int node = 0; node < topology.nodes(); ++node) names.push_back(topology.node_name(node));
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) refuse(name, "node", names, path);
  return static_cast<int>(found - names.begin());
}

}  // namespace longhaul
