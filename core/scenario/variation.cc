// The section `network.variation`: what of a network changes with time.
#include <fmt/core.h>

#include <filesystem>

#include "core/base/errors.h"
#include "core/base/units.h"
#include "core/scenario/network_spec.h"
#include "core/scenario/scenario_options.h"

namespace longhaul {
namespace {

constexpr char kVariation[] = "network.variation";

// Shorter periods would make a replay of hours one of millions of changes.
constexpr double kShortestPeriod_s = 1e-3;

Node direction_option() {
  return choice("direction", {"both", "forward", "backward"})
      .by_default("both")
      .means("forward: from the first to the second node of the link's name");
}

Node trace_options() {
  return section(
      "",
      {text("link").required().means("name of a link, or a glob of names, as replica*-core"),
       text("file").required().means("CSV with the columns time_s and rate_bps, delay_s or both"),
       either("repeat", {boolean(""), duration("").at_least(kShortestPeriod_s)})
           .by_default(false)
           .means("false: the last row stays; true: from the beginning again at the time of the last row; "
                  "or the period"),
       direction_option()});
}

Node background_options() {
  return section(
      "",
      {text("link").means("name of a link, or a glob of names, each with traffic of its own"),
       direction_option(), text("from").means("instead of link, with to: the node where the traffic begins"),
       text("to").means("the node where it ends"),
       integer("flows").at_least(1).means(
           "so many long-lived TCP connections, which take their max-min share of what they meet (fidelity "
           "linux: what their congestion control takes)"),
       choice("congestion_control", {"cubic", "reno", "bbr"})
           .means("of flows, in fidelity linux; default network.tcp.congestion_control"),
       rate("rate").above(0).means("instead of flows: a rate on the wire that yields to nobody"),
       number("share").above(0).at_most(0.9).means(
           "instead of flows: such a rate as a part of the link's own"),
       duration("on")
           .at_least(kShortestPeriod_s)
           .means("mean of the exponential times in which it is on; default always"),
       duration("off").at_least(kShortestPeriod_s).means("mean of the times between them, with on")});
}

Node jitter_options() {
  return section(
             "jitter",
             {number("rate_sigma")
                  .at_least(0)
                  .at_most(3)
                  .by_default(0)
                  .means("standard deviation of the logarithm of a factor on the rate"),
              number("delay_sigma")
                  .at_least(0)
                  .at_most(3)
                  .by_default(0)
                  .means("standard deviation of the logarithm of a factor on the delay"),
              duration("every").at_least(kShortestPeriod_s).by_default("1s").means("how long a draw stays")})
      .means("log-normal factors of mean 1 for each link and direction, from the seed");
}

Directions parse_directions(const Json& json) {
  const std::string word = json.at("direction");
  return {word != "backward", word != "forward"};
}

TraceSpec parse_trace(const Json& json, const std::string& folder) {
  TraceSpec trace;
  trace.link = json.at("link").get<std::string>();
  trace.file = (std::filesystem::path(folder) / json.at("file").get<std::string>()).string();
  trace.directions = parse_directions(json);
  const Json& repeat = json.at("repeat");
  trace.repeats = repeat.is_string() || repeat.get<bool>();
  if (repeat.is_string()) trace.period_s = parse_duration(repeat);
  return trace;
}

void check_place(const Json& json, const std::string& path) {
  const bool on_path = json.contains("from") && json.contains("to"),
             any_end = json.contains("from") || json.contains("to");
  if (json.contains("link") == any_end || any_end != on_path)
    throw InputError(path, "found " + json.dump(), "either link, or from and to");
  if (on_path && json.at("direction") != "both")
    throw InputError(path + ".direction", "found beside from and to", "only with link",
                     "from and to say the direction");
}

BackgroundSpec parse_background(const Json& json, const std::string& path) {
  check_place(json, path);
  BackgroundSpec traffic;
  traffic.link = json.value("link", "");
  traffic.directions = parse_directions(json);
  traffic.from = json.value("from", "");
  traffic.to = json.value("to", "");
  if (json.contains("flows") + json.contains("rate") + json.contains("share") != 1)
    throw InputError(path, "found " + json.dump(), "exactly one of flows, rate and share");
  if (json.contains("flows")) traffic.flows = json["flows"].get<int>();
  if (json.contains("rate")) traffic.rate = parse_rate(json["rate"]);
  if (json.contains("share")) traffic.share = json["share"].get<double>();
  if (json.contains("on") != json.contains("off"))
    throw InputError(path, "found " + json.dump(), "on and off together, or neither");
  if (json.contains("congestion_control")) {
    if (!traffic.flows)
      throw InputError(path + ".congestion_control", "found without flows", "with flows",
                       "a rate or a share of a link yields to nobody");
    traffic.congestion_control = json["congestion_control"].get<std::string>();
  }
  if (json.contains("on")) traffic.on_s = parse_duration(json["on"]);
  if (json.contains("off")) traffic.off_s = parse_duration(json["off"]);
  return traffic;
}

[[noreturn]] void refuse_variation(const std::string& path, const std::string& found,
                                   const std::string& fidelity) {
  throw InputError(path, fmt::format("found {} with fidelity \"{}\"", found, fidelity),
                   "fidelity \"flow\" or \"linux\"",
                   "fidelity \"packet\" carries traces and jitter of rates, the other two all of it");
}

// Drawn times do not depend on links. ns-3's point-to-point channel has one delay for both directions, and
// nothing here sends packets for others.
void check_variation(const VariationSpec& variation, const Json& network) {
  const std::string path = kVariation, fidelity = network.at("fidelity");
  if (network.contains("message_time"))
    throw InputError(path, "found beside network.message_time",
                     "another topology, without network.message_time");
  if (fidelity != "flow" && fidelity != "linux") {
    if (fidelity != "packet") refuse_variation(path, "a network that changes with time", fidelity);
    if (!variation.background.empty()) refuse_variation(path + ".background", "background traffic", fidelity);
    if (variation.jitter.delay_sigma > 0)
      refuse_variation(path + ".jitter.delay_sigma", "jitter of delays", fidelity);
  }
}

}  // namespace

Node variation_options() {
  return section("variation",
                 {list_of("traces", trace_options()).means("rates and delays of links from files"),
                  list_of("background", background_options()).means("traffic of others"), jitter_options()})
      .means("what of the network changes with time; nothing by default");
}

VariationSpec parse_variation(const Json& network, const std::string& folder) {
  VariationSpec variation;
  if (!network.contains("variation")) return variation;
  const Json& json = network["variation"];
  for (const Json& trace : json.value("traces", Json::array()))
    variation.traces.push_back(parse_trace(trace, folder));
  const Json background = json.value("background", Json::array());
  for (std::size_t i = 0; i < background.size(); ++i)
    variation.background.push_back(
        parse_background(background[i], element_path(std::string(kVariation) + ".background", i)));
  if (json.contains("jitter")) {
    const Json& jitter = json["jitter"];
    variation.jitter = {jitter.at("rate_sigma"), jitter.at("delay_sigma"),
                        parse_duration(jitter.at("every"))};
  }
  if (!variation.is_empty()) check_variation(variation, network);
  return variation;
}

}  // namespace longhaul
