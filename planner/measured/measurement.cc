#include "planner/measured/measurement.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "planner/measured/text.h"

namespace longhaul::measured {
namespace {

namespace fs = std::filesystem;

// As all spellings of an address have it; none of what is no address.
std::optional<std::string> plain_address(const std::string& host) {
  std::array<unsigned char, 16> bytes{};
  std::array<char, INET6_ADDRSTRLEN> written{};
  if (inet_pton(AF_INET, host.c_str(), bytes.data()) == 1) return host;
  if (inet_pton(AF_INET6, host.c_str(), bytes.data()) != 1) return std::nullopt;
  constexpr std::size_t kMark = 10, kMapped = 12;
  const bool is_mapped =
      std::all_of(bytes.begin(), bytes.begin() + kMark, [](unsigned char byte) { return byte == 0; }) &&
      bytes[kMark] == 0xFF && bytes[kMark + 1] == 0xFF;
  const auto* address = bytes.data() + (is_mapped ? kMapped : 0);
  inet_ntop(is_mapped ? AF_INET : AF_INET6, address, written.data(), written.size());
  return std::string(written.data());
}

std::string without_scope(std::string_view host) {
  return std::string(host.substr(0, host.find('%')));
}

std::string short_name(const std::string& host) {
  return host.substr(0, host.find('.'));
}

bool has_dot(const std::string& host) {
  return host.find('.') != std::string::npos;
}

// Whether `name` begins with the two sites, as warsaw-madrid does.
bool begins_with_pair(const std::string& name, const std::string& first, const std::string& second) {
  if (!starts_with(name, first)) return false;
  for (const char* between : {"-", "_", "-to-", "_to_"}) {
    const std::string both = first + between + second;
    if (starts_with(name, both) && !has_letter_or_digit(name, both.size())) return true;
  }
  return false;
}

using NamedPair = std::optional<std::pair<std::string, std::string>>;

// The longest two of `names` that `name` begins with; `spelled` says how they stand in it.
NamedPair longest_pair(const std::string& name, const std::vector<std::string>& names,
                       std::string (*spelled)(std::string_view)) {
  NamedPair longest;
  std::size_t most = 0;
  for (const std::string& first : names) {
    if (!starts_with(name, spelled(first))) continue;
    for (const std::string& second : names) {
      const std::size_t length = characters_in(first) + characters_in(second);
      if (&first == &second || length <= most || !begins_with_pair(name, spelled(first), spelled(second)))
        continue;
      longest = {first, second};
      most = length;
    }
  }
  return longest;
}

std::string as_written(std::string_view text) {
  return std::string(text);
}

}  // namespace

SitePair pair_of(const std::string& site, const std::string& other) {
  return {std::min(site, other), std::max(site, other)};
}

std::string same_host(const std::string& host) {
  std::string plain = lower_case(without_scope(strip(strip(host), "[]")));
  while (ends_with(plain, ".")) plain.pop_back();
  return plain_address(plain).value_or(plain);
}

bool is_address(const std::string& host) {
  return plain_address(without_scope(strip(host, "[]"))).has_value();
}

Sites::Sites(const Hosts& hosts) {
  for (const auto& [name, of] : hosts) {
    names_.push_back(name);
    for (const std::string& host : of) {
      if (host.empty()) continue;
      const std::string& owner = site_of_.emplace(same_host(host), name).first->second;
      if (owner != name)
        throw InputError("", fmt::format("found the host {} at {} and at {}", host, owner, name),
                         "each host at one site");
    }
  }
}

bool Sites::has_name(const std::string& name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

std::string Sites::of_plain(const std::string& plain) const {
  const auto known = site_of_.find(plain);
  if (known != site_of_.end()) return known->second;
  if (is_address(plain)) return "";
  std::set<std::string> found;
  for (const auto& [host, site] : site_of_)
    if (!is_address(host) && has_dot(host) != has_dot(plain) && short_name(host) == short_name(plain))
      found.insert(site);
  return found.size() == 1 ? *found.begin() : "";
}

std::string Sites::of_host(const std::vector<std::string>& hosts) const {
  for (const std::string& host : hosts) {
    if (host.empty()) continue;
    const std::string site = of_plain(same_host(host));
    if (!site.empty()) return site;
  }
  return "";
}

bool Sites::have_hosts(const std::pair<std::string, std::string>& sites) const {
  return std::any_of(site_of_.begin(), site_of_.end(), [&](const auto& known) {
    return known.second == sites.first || known.second == sites.second;
  });
}

std::optional<std::pair<std::string, std::string>> Sites::pair_in_name(const std::string& file) const {
  const fs::path path(file);
  const fs::path folder = fs::absolute(path).lexically_normal().parent_path();
  for (const std::string& name : {path.filename().string(), folder.filename().string()}) {
    if (const NamedPair pair = longest_pair(name, names_, as_written)) return pair;
    if (const NamedPair pair = longest_pair(lower_case(name), names_, lower_case)) return pair;
  }
  return std::nullopt;
}

std::string Sites::site_in_name(const std::string& file) const {
  const std::string name = lower_case(fs::path(file).filename().string());
  std::string found;
  for (const std::string& site : names_) {
    const std::string begin = lower_case(site);
    if (starts_with(name, begin) && !has_letter_or_digit(name, begin.size()) &&
        characters_in(site) > characters_in(found))
      found = site;
  }
  return pair_in_name(file) ? "" : found;
}

std::pair<std::string, std::string> Sites::pair_of_name(const std::string& file,
                                                        const std::vector<std::string>& hosts) const {
  if (const auto pair = pair_in_name(file)) return *pair;
  std::vector<std::string> unknown;
  for (const std::string& host : hosts)
    if (!host.empty() && of_host({host}).empty()) unknown.push_back(host);
  const std::string said =
      unknown.empty() ? "" : fmt::format(" ({}: hosts of no site)", join(unique(unknown), " and "));
  throw of_file(file, "says nothing of the two sites that it is between" + said,
                fmt::format("a test between hosts of two sites (--site NAME=HOST, or `hosts` of a plan's "
                            "sites), or a file whose name "
                            "begins with two of {}, as {}.txt",
                            join(names_), example_pair()));
}

std::pair<std::string, std::string> Sites::ends(const std::string& file,
                                                const std::vector<std::string>& local,
                                                const std::vector<std::string>& remote) const {
  const std::string here = of_host(local), there = of_host(remote);
  if (!here.empty() && here == there)
    throw of_file(
        file, fmt::format("is between two hosts of {} ({} and {})", here, first_of(local), first_of(remote)),
        "hosts of two sites; --inside has what is measured at one");
  if (!here.empty() && !there.empty()) return {here, there};
  std::vector<std::string> hosts;
  for (const std::vector<std::string>* of : {&local, &remote})
    if (!of->empty()) hosts.push_back(of->front());
  const auto named = pair_of_name(file, hosts);
  const std::string& known = here.empty() ? there : here;
  if (known.empty()) return named;
  if (known != named.first && known != named.second)
    throw of_file(file,
                  fmt::format("its name says {} and {}, but {} is a host of {}", named.first, named.second,
                              first_of(here.empty() ? remote : local), known),
                  "a name of the two sites between whose hosts the test ran");
  const std::string& other = known == named.first ? named.second : named.first;
  return here.empty() ? std::pair(other, known) : std::pair(known, other);
}

std::string Sites::example_pair() const {
  return names_.size() < 2 ? join(names_, "-") : names_[0] + "-" + names_[1];
}

std::string first_of(const std::vector<std::string>& hosts) {
  const auto found =
      std::find_if(hosts.begin(), hosts.end(), [](const std::string& host) { return !host.empty(); });
  return found == hosts.end() ? "" : *found;
}

std::string megabits(double bps) {
  return bps < 1e9 ? fmt::format("{:.3g}", bps / 1e6) : fmt::format("{:.0f}", bps / 1e6);
}

bool is_named_table(const std::string& file) {
  const std::string small = lower_case(file);
  return ends_with(small, ".csv") || ends_with(small, ".tsv");
}

InputError of_file(const std::string& file, const std::string& found, const std::string& allowed) {
  return InputError({file, "", found, allowed, ""});
}

}  // namespace longhaul::measured
