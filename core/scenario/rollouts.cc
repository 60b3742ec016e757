#include "core/scenario/rollouts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/json.h"
#include "core/base/limits.h"
#include "core/base/random.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "core/codecs/numbers.h"
#include "core/scenario/network_spec.h"

namespace longhaul {
namespace {

constexpr char kPath[] = "rollouts";
constexpr int kMostGroups = 4096;
constexpr std::int64_t kMostSamples = 1'000'000'000;  // of a step
constexpr int kMostSources = 4096;
constexpr double kMostTokensOfASample = 1e9;

Node length_options() {
  return one_of("length", {number("constant")
                               .at_least(1)
                               .at_most(kMostTokensOfASample)
                               .in("tokens")
                               .means("the same for every sample"),
                           section("lognormal", {number("mean")
                                                     .at_least(1)
                                                     .at_most(kMostTokensOfASample)
                                                     .required()
                                                     .in("tokens")
                                                     .means("the expectation"),
                                                 number("sigma").at_least(0).at_most(5).required().means(
                                                     "standard deviation of the logarithm")})
                               .means("drawn for each sample from the seed"),
                           section("pareto", {number("least")
                                                  .at_least(1)
                                                  .at_most(kMostTokensOfASample)
                                                  .required()
                                                  .in("tokens")
                                                  .means("of the shortest sample"),
                                              number("shape").above(0).at_most(100).required().means(
                                                  "α: longer than x is a share (least / x)^α of all")})
                               .means("drawn likewise, with a tail that is heavier still")})
      .required()
      .means("tokens of a sample");
}

Node generation_options() {
  return section(
             "generation",
             {length_options(),
              number("most_tokens")
                  .at_least(1)
                  .at_most(kMostTokensOfASample)
                  .in("tokens")
                  .means("longer samples end here; default: none does"),
              number("tokens_per_s")
                  .above(0)
                  .required()
                  .in("tokens/s")
                  .means("of one sample, with as many beside it as `concurrent` says"),
              duration("start").at_least(0).by_default("0s").means(
                  "from the begin of a sample to its first token: prompt, tools, environment"),
              table_of("speed_factors", number("").above(0))
                  .means("{group or range: factor} of tokens_per_s: groups that are unlike, {\"0-3\": 0.5}")})
      .required()
      .means("how long a sample takes");
}

Node payload_options() {
  return one_of(
             "payload",
             {section("full", {choice("wire", words_of<Wire>()).by_default("bf16").means("number format")})
                  .means("all weights"),
              section("delta",
                      {number("changed").above(0).at_most(1).required().means(
                           "share of the values that differ from the version before"),
                       choice("wire", words_of<Wire>()).by_default("bf16").means("number format of values"),
                       number("index_bits")
                           .at_least(0)
                           .at_most(64)
                           .by_default(32)
                           .in("bits")
                           .means("of the place of each value"),
                       number("compression")
                           .above(0)
                           .at_most(1)
                           .by_default(1)
                           .means("what a lossless code leaves of values and places, as a share")})
                  .means("the values that changed, and where they stand: exact, as what is not sent is the "
                         "same"),
              bytes("bytes").at_least(1).at_most(kLargestSize_bytes).means("a size that was measured")})
      .by_default({{"full", {{"wire", "bf16"}}}})
      .means("what a group receives of a version");
}

Node weights_options() {
  return section(
             "weights",
             {choice("distribution", {"broadcast", "relay-tree", "chain", "store"})
                  .by_default("broadcast")
                  .means(
                      "broadcast: a source sends to each group itself; relay-tree: groups pass on to "
                      "`fan_out` others, one of each site to the rest of its site; chain: each passes on to "
                      "the next one; store: uploaded once, and downloaded by each group"),
              integer("every").at_least(1).by_default(1).in("steps").means(
                  "steps of training from one version to the next"),
              payload_options(),
              integer("fan_out")
                  .at_least(1)
                  .at_most(kMostGroups)
                  .by_default(2)
                  .means("of a relay tree: to how many a host passes on"),
              integer("sources")
                  .at_least(1)
                  .at_most(kMostSources)
                  .by_default(1)
                  .means("workers of the trainers that send an equal part each, evenly spaced; chains and "
                         "trees of "
                         "the parts begin at different groups"),
              bytes("piece").at_least(1).by_default("64MB").means(
                  "what is passed on as it arrives, and of a store one object; a part of a source is cut "
                  "into "
                  "equal pieces of at most this"),
              integer("requests")
                  .at_least(0)
                  .at_most(1024)
                  .by_default(0)
                  .means(
                      "that a group has open at a time where it asks for each piece, as over HTTP: the "
                      "next one goes when a piece has come; 0: pieces come unasked, one behind another. Of a "
                      "store: `store.concurrent`"),
              duration("build").at_least(0).by_default("0s").means(
                  "from the end of a step until a source has the first of the version"),
              rate("build_rate")
                  .above(0)
                  .means("then a source makes the rest of its part at this rate, piece by piece; default: at "
                         "once"),
              rate("unpack_rate")
                  .above(0)
                  .means("a group unpacks what has arrived at this rate, beside its generation; default: at "
                         "once"),
              duration("swap_time")
                  .at_least(0)
                  .by_default("0s")
                  .means("in which a group generates nothing, as it takes a version up"),
              choice("swap", words_of<WeightSwap>())
                  .by_default("drain")
                  .means(
                      "drain: samples under way end first, and none begins meanwhile; in-flight: they go on "
                      "with the new weights; pause: likewise, but nothing is generated from when the version "
                      "is sent"),
              section("store", {text("site").means("where it stands, of a topology with sites"),
                                rate("rate").above(0).means(
                                    "of its link, each way; default that of the topology's access links"),
                                duration("request").at_least(0).by_default("0s").means(
                                    "from a request to the first byte"),
                                integer("concurrent")
                                    .at_least(1)
                                    .at_most(1024)
                                    .by_default(4)
                                    .means("requests that a group has open at a time"),
                                integer("uploads").at_least(0).at_most(1024).by_default(0).means(
                                    "of a source that are open at a time, where each waits for its "
                                    "answer, as a PUT does; 0: none waits")})
                  .means("with distribution store")})
      .filled()
      .means("how the trainers' weights come to the groups");
}

Node price_options() {
  return section("prices",
                 {number("trainer_hour")
                      .at_least(0)
                      .by_default(0)
                      .means("of an accelerator of the trainers (workload.accelerators of each worker)"),
                  number("rollout_hour").at_least(0).by_default(0).means("of an accelerator of the groups"),
                  number("egress_gb")
                      .at_least(0)
                      .by_default(0)
                      .means("of 10^9 bytes that leave a site for another one")})
      .means("in any currency, for `cost`");
}

SampleLength parse_length(const Json& generation) {
  SampleLength length;
  const Json& json = generation.at("length");
  const std::string kind = json.begin().key();
  const Json& value = json.begin().value();
  if (kind == "constant") {
    length.mean = value;
  } else if (kind == "lognormal") {
    length.kind = SampleLength::Kind::kLognormal;
    length.mean = value.at("mean");
    length.sigma = value.at("sigma");
  } else {
    length.kind = SampleLength::Kind::kPareto;
    length.least = value.at("least");
    length.shape = value.at("shape");
  }
  if (generation.contains("most_tokens")) length.most = std::llround(generation["most_tokens"].get<double>());
  return length;
}

std::int64_t payload_bytes(const Json& payload, std::int64_t parameters) {
  const std::string kind = payload.begin().key();
  const Json& value = payload.begin().value();
  if (kind == "bytes") return std::llround(parse_bytes(value));
  const int value_bytes =
      bytes_per_parameter(from_word<Wire>(value.at("wire"), "rollouts.weights.payload." + kind + ".wire"));
  if (kind == "full") return parameters * value_bytes;
  const double changed = std::ceil(value.at("changed").get<double>() * static_cast<double>(parameters));
  const double bytes_each = value_bytes + value.at("index_bits").get<double>() / 8;
  return std::max<std::int64_t>(1,
                                std::llround(changed * bytes_each * value.at("compression").get<double>()));
}

// By site, in the order written.
std::vector<std::pair<std::string, int>> places_of_groups(const Json& json, int groups) {
  std::vector<std::pair<std::string, int>> places;
  std::int64_t placed = 0;
  if (json.is_array()) {
    const auto count = static_cast<int>(json.size());
    for (int i = 0; i < count; ++i) {
      const std::string site = json[as_index(i)];
      if (any_of(places, [&](const auto& known) { return known.first == site; }))
        throw InputError(element_path("rollouts.sites", as_index(i)),
                         fmt::format("found \"{}\" a second time", site), "each site once");
      places.push_back({site, groups / count + (i < groups % count)});
    }
    return places;
  }
  for (const auto& [site, count] : json.items()) {
    places.push_back({site, count.get<int>()});
    placed += count.get<int>();
  }
  if (placed != groups)
    throw InputError("rollouts.sites", fmt::format("places {} groups, of {}", placed, groups),
                     "counts that add up to rollouts.groups");
  return places;
}

WeightStore parse_store(const Json& weights) {
  WeightStore store;
  const Json json = weights.contains("store")
                        ? weights["store"]
                        : resolve(*weights_options().child("store"), Json::object(), "");
  store.site = json.value("site", "");
  store.rate = optional_rate(json, "rate");
  store.request_s = parse_duration(json.at("request"));
  store.concurrent = json.at("concurrent");
  store.uploads = json.at("uploads");
  return store;
}

WeightsSpec parse_weights(const Json& json, std::int64_t parameters, int workers) {
  const std::string path = "rollouts.weights";
  WeightsSpec weights;
  weights.distribution = json.at("distribution").get<std::string>();
  weights.every = json.at("every");
  weights.bytes = payload_bytes(json.at("payload"), parameters);
  weights.fan_out = json.at("fan_out");
  weights.sources = json.at("sources");
  weights.piece = parse_bytes(json.at("piece"));
  weights.requests = json.at("requests");
  weights.build_s = parse_duration(json.at("build"));
  weights.build_rate = optional_rate(json, "build_rate");
  weights.unpack_rate = optional_rate(json, "unpack_rate");
  weights.swap_s = parse_duration(json.at("swap_time"));
  weights.swap = from_word<WeightSwap>(json.at("swap"), path + ".swap");
  weights.store = parse_store(json);
  if (weights.sources > workers)
    throw InputError(path + ".sources",
                     fmt::format("found {}, the trainers are {} workers", weights.sources, workers),
                     fmt::format("at most {}", workers));
  constexpr double kMostPieces = 1 << 20;
  if (const double pieces = static_cast<double>(weights.bytes) / *weights.piece; pieces > kMostPieces)
    throw InputError(
        path + ".piece",
        fmt::format("found \"{}\" of {}", plain(json.at("piece")),
                    human_bytes(static_cast<double>(weights.bytes))),
        fmt::format("pieces of {} or more: {:.0f} at most",
                    human_bytes(std::ceil(static_cast<double>(weights.bytes) / kMostPieces)), kMostPieces));
  return weights;
}

}  // namespace

std::int64_t SampleLength::draw(std::uint64_t seed, std::int64_t number) const {
  double tokens = mean;
  if (kind != Kind::kConstant) {
    RandomStream stream(seed, Purpose::kSampleLength, static_cast<std::uint32_t>(number),
                        static_cast<std::uint32_t>(number >> 32));
    tokens = kind == Kind::kLognormal ? stream.lognormal(std::log(mean) - sigma * sigma / 2, sigma)
                                      : least * std::pow(1 - stream.uniform(), -1 / shape);
  }
  const double longest = most > 0 ? static_cast<double>(most) : kMostTokensOfASample;
  return std::max<std::int64_t>(1, std::llround(std::min(tokens, longest)));
}

double SampleLength::expected() const {
  if (kind != Kind::kPareto) return mean;
  return shape > 1 ? least * shape / (shape - 1) : std::numeric_limits<double>::infinity();
}

Node rollout_options() {
  return section(
             kPath,
             {integer("groups")
                  .at_least(1)
                  .at_most(kMostGroups)
                  .required()
                  .means("inference engines, each with a copy of the weights"),
              either("sites",
                     {table_of("", integer("").at_least(0)).not_empty(), list_of("", text("")).not_empty()})
                  .means(
                      "of a topology with sites: {site: groups}, which add up to groups; or a list of sites, "
                      "over which they are spread evenly, in order"),
              integer("accelerators").at_least(1).at_most(kMostReplicas).by_default(1).means("of each group"),
              large_integer("batch")
                  .at_least(1)
                  .at_most(kMostSamples)
                  .required()
                  .in("samples")
                  .means("that a step of training takes, of all trainers together"),
              integer("concurrent")
                  .at_least(1)
                  .in("samples")
                  .means("that a group generates at a time; default a batch over the groups, rounded up"),
              generation_options(),
              integer("staleness")
                  .at_least(0)
                  .by_default(0)
                  .in("versions")
                  .means("by how many versions a sample may be older than what its step trains: 0 is "
                         "on-policy, 1 one step off, more a bound (AReaL, arXiv 2505.24298, equation 3)"),
              weights_options(), price_options()})
      .means("post-training: groups that generate samples for the trainers, with their weights");
}

std::optional<RolloutSpec> parse_rollouts(const Json& resolved, std::int64_t parameters, int workers) {
  const Json json = member(resolved, kPath);
  if (json.is_null()) return std::nullopt;
  RolloutSpec spec;
  spec.groups = json.at("groups");
  spec.accelerators = json.at("accelerators");
  if (json.contains("sites")) spec.places = places_of_groups(json["sites"], spec.groups);
  spec.batch = json.at("batch");
  spec.concurrent = json.value("concurrent", static_cast<int>((spec.batch + spec.groups - 1) / spec.groups));
  const Json& generation = json.at("generation");
  spec.length = parse_length(generation);
  spec.tokens_per_s = generation.at("tokens_per_s");
  spec.start_s = parse_duration(generation.at("start"));
  if (generation.contains("speed_factors")) {
    const std::string path = "rollouts.generation.speed_factors";
    spec.speed_factors.assign(as_index(spec.groups), 1);
    for (const auto& [range, factor] : generation["speed_factors"].items()) {
      const auto [first, last] = parse_replica_range(range, spec.groups, child_path(path, range), "a group");
      for (int group = first; group <= last; ++group) spec.speed_factors[as_index(group)] = factor;
    }
  }
  const double longest_s =
      spec.start_s +
      (spec.length.most > 0 ? static_cast<double>(spec.length.most) : spec.length.mean) / spec.tokens_per_s;
  if (longest_s > kLongestDuration_s)
    throw InputError("rollouts.generation.tokens_per_s", fmt::format("found {}", spec.tokens_per_s),
                     "samples of less than " + human_duration(kLongestDuration_s));
  spec.staleness = json.at("staleness");
  spec.weights = parse_weights(json.at("weights"), parameters, workers);
  if (json.contains("prices"))
    spec.prices = RolloutPrices{json["prices"].at("trainer_hour"), json["prices"].at("rollout_hour"),
                                json["prices"].at("egress_gb")};
  return spec;
}

}  // namespace longhaul
