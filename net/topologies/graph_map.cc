#include "net/topologies/graph_map.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <cmath>
#include <set>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/units.h"
#include "net/topologies/graphml_file.h"
#include "net/topologies/link_label.h"
#include "net/topologies/node_link_file.h"

namespace longhaul {
namespace {

using Keys = std::vector<const char*>;

constexpr double kMegabit = 1e6, kMillisecond = 1e-3;
const Keys kLabels = {"LinkLabel", "LinkNote", "LinkType", "label"};

// An attribute by the first of `keys` that has a text.
struct Written {
  std::string key, text;
};

std::optional<Written> written_in(const Attributes& attributes, const Keys& keys) {
  for (const char* key : keys)
    for (const auto& [name, value] : attributes)
      if (boost::algorithm::iequals(name, key))
        if (const std::string text = boost::algorithm::trim_copy(value); !text.empty())
          return Written{name, text};
  return std::nullopt;
}

// Errors of a file name the node or edge, and the key with what it holds.
struct Owner {
  const std::string& file;
  std::string name;

  [[noreturn]] void refuse(const Written& written, const std::string& found, const std::string& allowed,
                           const std::string& hint = "") const {
    throw InputError({file, name, fmt::format("{} is {}", written.key, found), allowed, hint});
  }
};

std::optional<double> number_in(const Attributes& attributes, const Keys& keys, const Owner& owner) {
  const std::optional<Written> written = written_in(attributes, keys);
  if (!written) return std::nullopt;
  const std::optional<double> value = parse_number<double>(written->text);
  if (!value || !std::isfinite(*value)) owner.refuse(*written, "\"" + written->text + "\"", "a number");
  return value;
}

// What was assumed and not read, by key, with how many edges.
class Notes {
 public:
  void unit(const std::string& key, const char* name) { ++units_[{key, name}]; }
  void unread(const std::string& key) { ++keys_[key]; }
  void label(const std::string& text) {
    ++labels_;
    if (shown_.size() < kShown && std::find(shown_.begin(), shown_.end(), text) == shown_.end())
      shown_.push_back(text);
  }

  std::vector<std::string> lines(const std::string& file) const {
    std::vector<std::string> lines, parts;
    for (const auto& [unit, count] : units_)
      parts.push_back(fmt::format("{} of {} in {}", unit.first, edges(count), unit.second));
    if (!parts.empty())
      lines.push_back(
          fmt::format("{}: reads {}: the file names no unit; rate_unit and delay_unit choose another", file,
                      join(parts)));
    parts.clear();
    for (const std::string& text : shown_) parts.push_back("\"" + text + "\"");
    if (labels_ > 0)
      lines.push_back(
          fmt::format("{}: no rate was read from the label of {} ({}{}): default_rate holds; "
                      "LinkSpeedRaw in bit/s, or a label as \"2.5 Gbps\", says another",
                      file, edges(labels_), join(parts), labels_ > static_cast<int>(kShown) ? ", ..." : ""));
    parts.clear();
    for (const auto& [key, count] : keys_) parts.push_back(fmt::format("{} of {}", key, edges(count)));
    if (!parts.empty()) lines.push_back(fmt::format("{}: not read: {}", file, join(parts)));
    return lines;
  }

 private:
  static constexpr std::size_t kShown = 3;

  static std::string edges(int count) { return fmt::format("{} edge{}", count, count == 1 ? "" : "s"); }

  std::map<std::pair<std::string, std::string>, int> units_;
  std::map<std::string, int> keys_;
  int labels_ = 0;
  std::vector<std::string> shown_;
};

std::optional<double> rate_under(const Attributes& edge, const Keys& keys, const GraphUnits& units,
                                 Notes& notes, const Owner& owner) {
  const std::optional<Written> written = written_in(edge, keys);
  if (!written) return std::nullopt;
  const bool is_raw = boost::algorithm::iequals(written->key, "LinkSpeedRaw");
  std::optional<double> rate = parse_number<double>(written->text);
  if (rate) {
    if (!std::isfinite(*rate) || !(*rate > 0))
      owner.refuse(*written, format_number(*rate), "more than 0 bit/s",
                   "without the key, a label that names a rate or default_rate counts");
    if (!is_raw && !units.rate) notes.unit(written->key, "Mb/s");
    return is_raw ? *rate : *rate * units.rate.value_or(kMegabit);
  }
  if (!is_raw) rate = rate_in_label(written->text);
  if (!rate)
    owner.refuse(*written, "\"" + written->text + "\"",
                 is_raw ? "a number" : "a number, or a rate as \"10Gbps\"");
  return rate;
}

std::optional<double> delay_of(const Attributes& edge, const GraphUnits& units, Notes& notes,
                               const Owner& owner) {
  const std::optional<Written> written = written_in(edge, {"LinkDelay", "latency", "delay"});
  if (!written) return std::nullopt;
  std::optional<double> delay_s = parse_number<double>(written->text);
  if (delay_s) {
    if (!units.delay_s) notes.unit(written->key, "ms");
    *delay_s *= units.delay_s.value_or(kMillisecond);
  } else {
    try {
      delay_s = parse_duration(written->text);
    } catch (const InputError&) {
      owner.refuse(*written, "\"" + written->text + "\"", "a number, or a time as \"5ms\"");
    }
  }
  if (!std::isfinite(*delay_s) || *delay_s < 0) owner.refuse(*written, written->text, "a time of at least 0");
  return delay_s;
}

std::optional<double> length_of(const Attributes& edge, const Owner& owner) {
  const std::optional<double> length_km = number_in(edge, {"dist"}, owner);
  if (length_km && *length_km < 0)
    owner.refuse(*written_in(edge, {"dist"}), format_number(*length_km), "kilometres of at least 0");
  return length_km;
}

// Of the Zoo's pair, as "10" and "G", or of the first label with a rate.
std::optional<double> rate_in_labels(const Attributes& edge, std::string& unread) {
  if (const std::optional<Written> speed = written_in(edge, {"LinkSpeed"})) {
    const std::optional<Written> unit = written_in(edge, {"LinkSpeedUnits"});
    unread = speed->text + (unit ? unit->text : "");
    if (const std::optional<double> rate = rate_in_label(unread)) return rate;
  }
  for (const char* key : kLabels) {
    const std::optional<Written> label = written_in(edge, {key});
    if (!label) continue;
    if (const std::optional<double> rate = rate_in_label(label->text)) return rate;
    if (unread.empty()) unread = label->text;
  }
  return std::nullopt;
}

// Keys that say something of a link's rate, delay or loss, and are none of those that are read.
bool sounds_like_a_link(const std::string& key) {
  for (const char* known : {"LinkSpeedRaw", "LinkFwdCap", "LinkBkwdCap", "bandwidth", "capacity", "bw",
                            "LinkSpeed", "LinkSpeedUnits", "LinkDelay", "latency", "delay", "dist"})
    if (boost::algorithm::iequals(key, known)) return false;
  for (const char* part :
       {"speed", "cap", "rate", "band", "delay", "latenc", "loss", "jitter", "rtt", "length", "dist"})
    if (boost::algorithm::icontains(key, part)) return true;
  return false;
}

void check_range(double degrees, double most, const Written& written, const Owner& owner) {
  if (std::abs(degrees) > most)
    owner.refuse(written, format_number(degrees), fmt::format("-{0} to {0} degrees", format_number(most)));
}

std::optional<Coordinates> place_of(const Attributes& node, const Owner& owner) {
  const Keys across = {"Latitude", "lat"}, around = {"Longitude", "lon", "lng"};
  const auto latitude = number_in(node, across, owner), longitude = number_in(node, around, owner);
  if (!latitude || !longitude) return std::nullopt;
  check_range(*latitude, 90, *written_in(node, across), owner);
  check_range(*longitude, 180, *written_in(node, around), owner);
  return Coordinates{*latitude, *longitude};
}

class Namer {
 public:
  std::string unique(const std::string& name) {
    std::string text = name;
    for (int count = 2; !known_.insert(text).second; ++count) text = fmt::format("{}#{}", name, count);
    return text;
  }

 private:
  std::set<std::string> known_;
};

GraphEdge edge_of(const WrittenGraph::Edge& written, const std::string& name, const std::string& file,
                  const GraphUnits& units, Notes& notes) {
  const Owner owner{file, "edge " + name};
  const Attributes& attributes = written.attributes;
  GraphEdge edge{static_cast<int>(written.first), static_cast<int>(written.second), name, {}, {}, {}, {}, ""};
  const Keys both = {"bandwidth", "capacity", "bw"};
  edge.forward = rate_under(attributes, {"LinkSpeedRaw"}, units, notes, owner);
  if (!edge.forward) {
    edge.forward = rate_under(attributes, {"LinkFwdCap"}, units, notes, owner);
    edge.backward = rate_under(attributes, {"LinkBkwdCap"}, units, notes, owner);
  }
  if (!edge.forward && !edge.backward) edge.forward = rate_under(attributes, both, units, notes, owner);
  if (!edge.forward && !edge.backward) {
    edge.forward = rate_in_labels(attributes, edge.unread);
    if (edge.forward) edge.unread.clear();
    if (!edge.unread.empty()) notes.label(edge.unread);
  }
  if (!edge.forward) edge.forward = edge.backward;
  if (!edge.backward) edge.backward = edge.forward;
  edge.delay_s = delay_of(attributes, units, notes, owner);
  if (!edge.delay_s) edge.length_km = length_of(attributes, owner);
  for (const auto& [key, value] : attributes)
    if (sounds_like_a_link(key)) notes.unread(key);
  return edge;
}

GraphMap map_of(const WrittenGraph& written, const GraphUnits& units, const std::string& file) {
  GraphMap map;
  Namer nodes, edges;
  Notes notes;
  for (const Attributes& attributes : written.nodes) {
    const std::optional<Written> label = written_in(attributes, {"label", "name"});
    const std::string name = nodes.unique(label ? label->text : fmt::format("node{}", map.nodes.size()));
    map.nodes.push_back({name, place_of(attributes, {file, "node " + name})});
  }
  for (const WrittenGraph::Edge& edge : written.edges) {
    if (edge.first == edge.second) continue;
    const std::string name =
        edges.unique(fmt::format("{}-{}", map.nodes[edge.first].name, map.nodes[edge.second].name));
    map.edges.push_back(edge_of(edge, name, file, units, notes));
  }
  map.notes = notes.lines(file);
  return map;
}

}  // namespace

GraphMap read_graph_map(const std::string& file, const GraphUnits& units) {
  const std::string text = read_file(file).value_or("");
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool is_json = begin != std::string::npos && text[begin] == '{';
  const WrittenGraph written = is_json ? read_node_link(text, file) : read_graphml(text, file);
  if (written.nodes.empty())
    throw InputError({file, "", "holds no node", "a graph with nodes and edges", ""});
  return map_of(written, units, file);
}

}  // namespace longhaul
