#include "planner/measured/matrix.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "planner/measured/formats.h"
#include "planner/measured/in_order.h"
#include "planner/measured/text.h"

namespace longhaul::measured {
namespace {

constexpr double kApart = 1.2;  // a ratio that a reader should know

using Warnings = std::vector<std::string>;

// The median of one direction with one number of streams.
struct Way {
  std::string sender;
  long long streams = 0;
  double together_bps = 0;
  std::vector<Measured> of;

  double bps() const { return together_bps / static_cast<double>(std::max(1LL, streams)); }

  std::string files() const {
    std::vector<std::string> names;
    for (const Measured& one : of) names.push_back(one.file);
    return join(unique(names));
  }
};

// Without the second file of a test whose client and server both wrote one: the one with the receiver's
// figure stays.
std::vector<Measured> once(const std::vector<Measured>& measured) {
  std::vector<Measured> kept;
  std::map<std::pair<std::string, std::string>, std::size_t> places;  // by test and sender
  for (const Measured& one : measured) {
    if (one.test.empty() || !one.together_bps) {
      kept.push_back(one);
      continue;
    }
    const auto [place, is_new] = places.emplace(std::pair(one.test, one.sender), kept.size());
    if (is_new) {
      kept.push_back(one);
      continue;
    }
    Measured& best = kept[place->second];
    if (!best.as_sent || one.as_sent) continue;
    const std::optional<double> rtt_s = one.rtt_s ? one.rtt_s : best.rtt_s;
    best = one;
    best.rtt_s = rtt_s;
  }
  return kept;
}

std::vector<double> sorted_rates(const std::vector<Measured>& of) {
  std::vector<double> rates;
  for (const Measured& one : of) rates.push_back(one.together_bps.value_or(0));
  std::sort(rates.begin(), rates.end());
  return rates;
}

double median(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

std::vector<Way> ways_of(const std::vector<Measured>& measured) {
  InOrder<std::pair<std::string, long long>, std::vector<Measured>> grouped;
  for (const Measured& one : measured) grouped[{one.sender, one.streams}].push_back(one);
  std::vector<Way> ways;
  for (const auto& [key, of] : grouped) ways.push_back({key.first, key.second, median(sorted_rates(of)), of});
  return ways;
}

void say_repeats(const std::string& between, const std::vector<Way>& ways, Warnings& warnings) {
  for (const Way& way : ways) {
    const std::vector<double> rates = sorted_rates(way.of);
    if (rates.size() > 1 && rates.back() > kApart * rates[0])
      warnings.push_back(fmt::format("{}: {} tests{} carried {} to {} Mb/s; the median, {}, is taken",
                                     between, rates.size(), way.sender.empty() ? "" : " from " + way.sender,
                                     megabits(rates[0]), megabits(rates.back()), megabits(way.together_bps)));
  }
}

// A file of `slowest` that has both directions, or "".
std::string file_of_both(const Way& slowest, const Way& fastest) {
  for (const Measured& one : slowest.of)
    if (one.both_ways && std::any_of(fastest.of.begin(), fastest.of.end(),
                                     [&](const Measured& other) { return other.file == one.file; }))
      return one.file;
  return "";
}

void say_ways(const std::string& between, const Way& slowest, const Way& fastest, Warnings& warnings) {
  const std::string both = file_of_both(slowest, fastest), slow = megabits(slowest.bps()),
                    fast = megabits(fastest.bps());
  if (!both.empty() && slowest.sender != fastest.sender)
    warnings.push_back(
        fmt::format("{}: {} Mb/s from {} and {} from {}, at the same time ({}); the slower one is taken",
                    between, slow, slowest.sender, fast, fastest.sender, both));
  else if (fastest.bps() > kApart * slowest.bps())
    warnings.push_back(fmt::format("{}: {} Mb/s in {}, {} in {}; the slower one is taken", between, slow,
                                   slowest.files(), fast, fastest.files()));
}

// Those that iperf3 did not hold down; all where it held them all.
std::vector<Measured> free_ones(const std::string& between, const std::vector<Measured>& carried,
                                Warnings& warnings) {
  std::vector<Measured> free;
  const Measured* held = nullptr;
  for (const Measured& one : carried)
    if (one.limit.empty())
      free.push_back(one);
    else if (held == nullptr)
      held = &one;
  if (free.empty()) return carried;
  if (held != nullptr)
    warnings.push_back(
        fmt::format("{}: {} is left out: {}, and other tests were not", between, held->file, held->limit));
  return free;
}

// Of each direction those of as few streams as there are. nccl-tests, which do not say how many, only where
// nothing else is.
std::vector<Way> with_fewest_streams(const std::vector<Way>& ways) {
  std::map<std::string, long long> fewest;  // by sender
  for (const Way& way : ways) {
    long long& of_sender = fewest[way.sender];
    if (way.streams != 0 && (of_sender == 0 || way.streams < of_sender)) of_sender = way.streams;
  }
  const bool has_streams =
      std::any_of(fewest.begin(), fewest.end(), [](const auto& item) { return item.second != 0; });
  std::vector<Way> with_fewest;
  for (const Way& way : ways)
    if (way.streams == fewest[way.sender] && (way.streams != 0 || !has_streams)) with_fewest.push_back(way);
  return with_fewest;
}

// Where several streams of a direction carried less together than one connection is taken to carry.
void say_less_together(const std::string& between, const std::vector<Way>& ways, double one_bps,
                       Warnings& warnings) {
  for (const Way& way : ways)
    if (way.streams > 1 && kApart * way.together_bps < one_bps)
      warnings.push_back(
          fmt::format("{}: {} streams{} carried {} Mb/s together, less than the {} of one, which "
                      "counts: has the path changed between the tests?",
                      between, way.streams, way.sender.empty() ? "" : " from " + way.sender,
                      megabits(way.together_bps), megabits(one_bps)));
}

// What one connection carries: of the slower direction.
Way chosen(const std::string& between, const std::vector<Measured>& carried, Warnings& warnings) {
  const std::vector<Way> all = ways_of(free_ones(between, carried, warnings)),
                         ways = with_fewest_streams(all);
  say_repeats(between, ways, warnings);
  const auto is_slower = [](const Way& way, const Way& other) { return way.bps() < other.bps(); };
  const Way &slowest = *std::min_element(ways.begin(), ways.end(), is_slower),
            &fastest = *std::max_element(ways.begin(), ways.end(), is_slower);
  say_ways(between, slowest, fastest, warnings);
  say_less_together(between, all, slowest.bps(), warnings);
  const long long streams = slowest.streams;
  if (streams > 1)
    warnings.push_back(fmt::format(
        "{}: {} streams carried {} Mb/s together, and several count no more; what one carries alone is not "
        "known: measure it too, without -P",
        between, streams, megabits(slowest.together_bps)));
  if (streams == 0)
    warnings.push_back(fmt::format(
        "{}: NCCL's connections carried {} Mb/s together, and it does not say how many they are; more "
        "carry no more: give it to the sites as their rate, or connections of 1",
        between, megabits(slowest.bps())));
  if (!slowest.of[0].limit.empty())
    warnings.push_back(fmt::format("{}: {} in {}: the path may carry more; measure without it", between,
                                   slowest.of[0].limit, slowest.of[0].file));
  return slowest;
}

std::string rate_text(double bps) {
  return fmt::format("{:.6g}Mbps", bps / 1e6);
}

Json measured_ways(const std::vector<Measured>& carried) {
  std::vector<Measured> counted;
  for (const Measured& one : carried)
    if (one.streams != 0 && one.limit.empty()) counted.push_back(one);
  std::vector<Way> ways = ways_of(counted);
  std::stable_sort(ways.begin(), ways.end(), [](const Way& way, const Way& other) {
    return std::pair(way.streams, way.sender) < std::pair(other.streams, other.sender);
  });
  Json written = Json::array();
  for (const Way& way : ways) {
    Json one = Json::object();
    if (!way.sender.empty()) one["from"] = way.sender;
    one["connections"] = way.streams;
    one["throughput"] = rate_text(way.together_bps);
    written.push_back(one);
  }
  return written;
}

struct RoundTrips {
  std::optional<double> quiet_s, loaded_s;  // the shortest without and beside traffic of the test's own
};

RoundTrips shortest_round_trips(const std::vector<Measured>& of) {
  RoundTrips shortest;
  for (const Measured& one : of) {
    if (!one.rtt_s) continue;
    std::optional<double>& least = one.is_loaded ? shortest.loaded_s : shortest.quiet_s;
    least = std::min(least.value_or(*one.rtt_s), *one.rtt_s);
  }
  return shortest;
}

Json pair_json(const std::string& first, const std::string& second, const std::vector<Measured>& of,
               const Known& known, Warnings& warnings) {
  const std::string between = first + " and " + second;
  const auto known_rtt = known.rtts.find(pair_of(first, second));
  const RoundTrips round_trips = shortest_round_trips(of);
  std::vector<Measured> carried;
  for (const Measured& one : of)
    if (one.together_bps) carried.push_back(one);
  if (carried.empty() && known.throughput.empty())
    throw InputError(
        "",
        fmt::format("nothing says what a connection between {} carries; give an iperf3 --json, "
                    "or nccl-tests (with round "
                    "trips alone --throughput of longhaul measured; `paths` of a plan have round trips)",
                    between),
        "");
  const std::optional<double> rtt_s = round_trips.quiet_s ? round_trips.quiet_s : round_trips.loaded_s;
  const auto guess = known.guesses.find(pair_of(first, second));
  if (!rtt_s && known_rtt == known.rtts.end() && guess == known.guesses.end())
    throw InputError("",
                     fmt::format("nothing says the round trip between {}; give ping's output as {}-{}.txt",
                                 between, first, second),
                     "");
  Json pair = {{"between", {first, second}}};
  const bool takes_known = !round_trips.quiet_s && known_rtt != known.rtts.end();
  pair["rtt"] = takes_known ? known_rtt->second
                : rtt_s     ? fmt::format("{:.6g}ms", *rtt_s * 1e3)
                            : guess->second;
  pair["throughput"] =
      carried.empty() ? known.throughput : rate_text(chosen(between, carried, warnings).bps());
  if (Json ways = measured_ways(carried); !ways.empty()) pair["measured"] = std::move(ways);
  return pair;
}

// One sentence for all pairs whose round trip iperf3 measured.
void say_loaded(const std::vector<Measured>& measured, const Known& known, Warnings& warnings) {
  std::set<SitePair> quiet;
  for (const Measured& one : measured)
    if (one.rtt_s && !one.is_loaded) quiet.insert(one.pair);
  std::set<SitePair> timed;
  for (const Measured& one : measured)
    if (one.rtt_s) timed.insert(one.pair);
  for (const auto& [pair, rtt] : known.rtts) quiet.insert(pair);
  for (const auto& [pair, rtt] : known.guesses)
    if (timed.count(pair) == 0) quiet.insert(pair);
  std::vector<std::string> loaded;
  for (std::size_t i = 0; i < known.sites.size(); ++i)
    for (std::size_t k = i + 1; k < known.sites.size(); ++k) {
      const std::string &first = known.sites[i].first, &second = known.sites[k].first;
      if (quiet.count(pair_of(first, second)) == 0) loaded.push_back(first + " and " + second);
    }
  if (loaded.size() == 1)
    warnings.push_back(loaded[0] +
                       ": the round trip is iperf3's, beside its own load; ping -c 20 has it without queues");
  else if (!loaded.empty())
    warnings.push_back(
        join(loaded) +
        ": the round trips are iperf3's, beside its own load; ping -c 20 has them without queues");
}

}  // namespace

Json matrix_of(const std::vector<Measured>& found, const Known& known, std::vector<std::string>& warnings) {
  const Sites sites(known.sites);
  const std::vector<Measured> measured = once(found);
  std::vector<std::string> notes, names;
  std::map<SitePair, std::vector<Measured>> by_pair;
  for (const Measured& one : measured) {
    notes.insert(notes.end(), one.notes.begin(), one.notes.end());
    names.push_back(std::filesystem::path(one.file).filename().string());
    by_pair[one.pair].push_back(one);
  }
  for (const std::string& note : unique(notes)) warnings.push_back(note);
  Json pairs = Json::array();
  for (std::size_t i = 0; i < sites.names().size(); ++i)
    for (std::size_t k = i + 1; k < sites.names().size(); ++k) {
      const std::string &first = sites.names()[i], &second = sites.names()[k];
      pairs.push_back(pair_json(first, second, by_pair[pair_of(first, second)], known, warnings));
    }
  say_loaded(measured, known, warnings);
  return {{"about", fmt::format("{} sites, measured", sites.names().size())},
          {"source", "measured: " + join(unique(names))},
          {"sites", sites.names()},
          {"inside", known.inside},
          {"pairs", pairs}};
}

Json matrix_of(const std::vector<MeasurementFile>& files, const Known& known,
               std::vector<std::string>& warnings) {
  const Sites sites(known.sites);
  std::vector<Measured> found;
  for (const MeasurementFile& file : files)
    for (Measured& one : read(file, sites)) found.push_back(std::move(one));
  return matrix_of(found, known, warnings);
}

}  // namespace longhaul::measured
