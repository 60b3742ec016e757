// The section `network.variation` of a resolved case, and which fidelity carries what of it.
#include <filesystem>

#include "core/case_parts.h"
#include "core/errors.h"
#include "core/units.h"

namespace longhaul {
namespace {

constexpr char kPath[] = "network.variation";

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
  if (json.contains("on")) traffic.on_s = parse_duration(json["on"]);
  if (json.contains("off")) traffic.off_s = parse_duration(json["off"]);
  return traffic;
}

JitterSpec parse_jitter(const Json& json) {
  return {json.at("rate_sigma"), json.at("delay_sigma"), parse_duration(json.at("every"))};
}

[[noreturn]] void refuse(const std::string& path, const std::string& found, const std::string& fidelity) {
  throw InputError(path, "found " + found + " with fidelity \"" + fidelity + "\"", "fidelity \"flow\"",
                   "fidelity \"packet\" carries traces and jitter of rates, \"flow\" all of it");
}

// Drawn times do not depend on links.
void check_place_of_variation(const Json& network) {
  if (network.contains("message_time"))
    throw InputError(kPath, "found beside network.message_time",
                     "another topology, without network.message_time");
}

// ns-3's point-to-point channel has one delay for both directions, and nothing here sends packets for others.
void check_fidelity(const VariationSpec& variation, const std::string& fidelity) {
  if (fidelity == "flow" || variation.is_empty()) return;
  const std::string path = kPath;
  if (fidelity != "packet") refuse(path, "a network that changes with time", fidelity);
  if (!variation.background.empty()) refuse(path + ".background", "background traffic", fidelity);
  if (variation.jitter.delay_sigma > 0) refuse(path + ".jitter.delay_sigma", "jitter of delays", fidelity);
}

}  // namespace

VariationSpec parse_variation(const Json& network, const std::string& folder) {
  VariationSpec variation;
  if (!network.contains("variation")) return variation;
  const Json& json = network["variation"];
  for (const Json& trace : json.value("traces", Json::array()))
    variation.traces.push_back(parse_trace(trace, folder));
  const Json background = json.value("background", Json::array());
  for (std::size_t i = 0; i < background.size(); ++i)
    variation.background.push_back(
        parse_background(background[i], element_path(std::string(kPath) + ".background", i)));
  if (json.contains("jitter")) variation.jitter = parse_jitter(json["jitter"]);
  if (!variation.is_empty()) check_place_of_variation(network);
  check_fidelity(variation, network.at("fidelity"));
  if (!variation.is_empty() && network.at("fidelity") == "flow" &&
      network.value(Json::json_pointer("/tcp/queue"), "") == "fifo")
    throw InputError(
        {"", "network.tcp.queue", "found \"fifo\" in a network that changes with time", "host, fq_codel",
         "rounds before a FIFO are of steady links; use fidelity \"packet\" where it carries the changes"});
  return variation;
}

}  // namespace longhaul
