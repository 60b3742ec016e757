#include "planner/measured/round_trips.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "planner/measured/in_order.h"
#include "planner/measured/text.h"

namespace longhaul::measured {
namespace {

using Reached = InOrder<std::string, double>;  // seconds by site

std::string named(const RoundTrip& one) {
  return one.hosts.empty() ? "a host without a name" : one.hosts[0];
}

std::vector<std::string> sites_of(const Reached& reached) {
  std::vector<std::string> sites;
  for (const auto& [site, seconds] : reached) sites.push_back(site);
  return sites;
}

std::vector<RoundTrip> longest_first(std::vector<RoundTrip> found) {
  std::stable_sort(found.begin(), found.end(),
                   [](const RoundTrip& one, const RoundTrip& other) { return one.seconds > other.seconds; });
  return found;
}

// One for each target.
std::vector<RoundTrip> shortest(const std::vector<RoundTrip>& found) {
  InOrder<std::vector<std::string>, RoundTrip> by_hosts;
  for (const RoundTrip& one : longest_first(found)) by_hosts[one.hosts] = one;
  return by_hosts.values();
}

struct Origin {
  std::string site;  // of the machine that measured; "": not known
  std::vector<std::string> notes = {};
};

std::set<std::string> sites_that_sent(const std::vector<RoundTrip>& found, const Sites& sites) {
  std::set<std::string> said;
  for (const RoundTrip& one : found)
    if (const std::string site = sites.of_host({one.source}); !site.empty()) said.insert(site);
  return said;
}

// Where two sites are possible, the one that is nearer to it.
Origin origin_of(const std::string& file, const std::vector<RoundTrip>& found, const Reached& reached,
                 const Sites& sites) {
  const std::set<std::string> said = sites_that_sent(found, sites);
  if (said.size() == 1) return {*said.begin()};
  if (const std::string single = sites.site_in_name(file); !single.empty()) return {single};
  const auto named_pair = sites.pair_in_name(file);
  std::set<std::string> among;
  if (named_pair)
    among = {named_pair->first, named_pair->second};
  else if (sites.names().size() == 2)
    among = {sites.names().begin(), sites.names().end()};
  const auto is_possible = [&](const auto& site) { return among.count(site.first) > 0; };
  if (!among.empty() && !std::all_of(reached.begin(), reached.end(), is_possible))
    throw of_file(file,
                  fmt::format("its name says {}, but it has round trips to {}",
                              named_pair ? named_pair->first + " and " + named_pair->second : "",
                              join(sites_of(reached))),
                  fmt::format("a name of the site where it ran, as {}.txt", sites.names()[0]));
  if (!among.empty() && reached.size() == 2) {
    const auto &first = *reached.begin(), &second = *(reached.begin() + 1);
    const auto &near = second.second < first.second ? second : first, &far = &near == &first ? second : first;
    return {near.first,
            {fmt::format(
                "{}: the {:.6g} ms to {} are taken as the machine's own, the {:.6g} ms to {} as the path",
                file, near.second * 1e3, near.first, far.second * 1e3, far.first)}};
  }
  std::vector<std::string> missing;
  for (const std::string& site : sites.names())
    if (!reached.contains(site) && (among.empty() || among.count(site) > 0)) missing.push_back(site);
  return {missing.size() == 1 ? missing[0] : ""};
}

// Of targets that are no site's.
std::vector<Measured> measured_by_name(const std::string& file, const std::vector<RoundTrip>& targets,
                                       const Sites& sites) {
  if (targets.size() > 1) {
    std::vector<std::string> names;
    for (const RoundTrip& one : targets) names.push_back(named(one));
    throw of_file(file, fmt::format("has round trips to {}, hosts of no site", join(names, " and ")),
                  fmt::format("hosts that --site NAME=HOST, or `hosts` of a plan's sites, has; or a file for "
                              "each pair, as {}.txt",
                              sites.example_pair()));
  }
  const RoundTrip& only = targets.at(0);
  const auto [site, other] = sites.pair_of_name(file, {only.hosts.empty() ? "" : only.hosts[0]});
  Measured one{file, pair_of(site, other)};
  one.rtt_s = only.seconds;
  return {one};
}

}  // namespace

std::vector<Measured> measured_between(const std::string& file, const std::vector<RoundTrip>& found,
                                       const Sites& sites) {
  const std::vector<RoundTrip> targets = shortest(found);
  Reached reached;
  std::vector<std::string> unknown;
  for (const RoundTrip& one : longest_first(targets))
    if (const std::string site = sites.of_host(one.hosts); !site.empty()) reached[site] = one.seconds;
  for (const RoundTrip& one : targets)
    if (sites.of_host(one.hosts).empty()) unknown.push_back(named(one));
  if (reached.empty()) return measured_by_name(file, targets, sites);
  Origin origin = origin_of(file, targets, reached, sites);
  if (origin.site.empty())
    throw of_file(
        file, fmt::format("has round trips to {}, and does not say where it ran", join(sites_of(reached))),
        fmt::format("a name that begins with that site, as {}.txt", sites.names()[0]));
  if (!unknown.empty())
    origin.notes.push_back(fmt::format("{}: {}: hosts of no site, left out", file, join(unknown)));
  std::vector<Measured> between;
  for (const auto& [site, seconds] : reached) {
    if (site == origin.site) continue;
    Measured one{file, pair_of(origin.site, site)};
    one.rtt_s = seconds;
    between.push_back(one);
  }
  if (between.empty())
    throw of_file(file, fmt::format("was measured at {0} to a host of {0}", origin.site),
                  "a host of another site");
  between[0].notes = origin.notes;
  return between;
}

}  // namespace longhaul::measured
