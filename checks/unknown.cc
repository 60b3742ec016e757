#include "checks/unknown.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/ranges.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

const char* const kAllowed =
    "{\"from\": VALUE, \"to\": VALUE} for a number, or a list of at least two values";

std::string path_in_fit(const std::string& key) {
  return "fit.unknown.\"" + key + "\"";
}

bool is_number(NodeKind kind) {
  return kind == NodeKind::kRate || kind == NodeKind::kDuration || kind == NodeKind::kBytes ||
         kind == NodeKind::kNumber;
}

// Of several kinds of value the one that is a number.
NodeKind number_kind(const Node& option) {
  if (is_number(option.kind)) return option.kind;
  if (option.kind == NodeKind::kEither)
    for (const Node& child : option.children)
      if (is_number(child.kind)) return child.kind;
  return option.kind;
}

double parsed(NodeKind kind, const Json& value, const std::string& path, const Node& option) {
  const bool is_text = kind != NodeKind::kNumber;
  if (is_text != value.is_string() || (!is_text && !value.is_number()))
    throw InputError(path, "found " + value.dump(), allowed(option));
  try {
    if (kind == NodeKind::kRate) return parse_rate(value);
    if (kind == NodeKind::kDuration) return parse_duration(value);
    if (kind == NodeKind::kBytes) return parse_bytes(value);
    return value.get<double>();
  } catch (const InputError& error) {
    InputErrorParts parts = error.parts();
    parts.path = path;
    throw InputError(parts);
  }
}

}  // namespace

Unknown::Unknown(std::string path, const Json& written, const Node& option)
    : path_(std::move(path)), kind_(number_kind(option)) {
  const std::string place = path_in_fit(path_);
  if (written.is_array()) {
    choices_ = written.get<std::vector<Json>>();
    if (choices_.size() < 2) throw InputError(place, "found " + written.dump(), kAllowed);
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      resolve(option, choices_[i], element_path(place, i));
      if (std::count(choices_.begin(), choices_.end(), choices_[i]) > 1)
        throw InputError(element_path(place, i), "found " + choices_[i].dump() + " twice", "each value once");
    }
    return;
  }
  if (!written.is_object() || !written.contains("from") || !written.contains("to") || written.size() != 2)
    throw InputError(place, "found " + written.dump(), kAllowed);
  if (!is_number(kind_))
    throw InputError(place, "found a range", "a list of values: it is " + allowed(option));
  for (const char* end : {"from", "to"}) {
    const std::string where = child_path(place, end);
    (std::string(end) == "from" ? low_ : high_) = parsed(kind_, written[end], where, option);
    resolve(option, written[end], where);
  }
  if (!(low_ < high_))
    throw InputError(place, fmt::format("found from {} to {}", written["from"].dump(), written["to"].dump()),
                     "from below to");
  is_logarithmic_ = low_ > 0;
}

double Unknown::value_at(double place) const {
  if (place <= 0) return low_;
  if (place >= 1) return high_;
  return is_logarithmic_ ? low_ * std::pow(high_ / low_, place) : low_ + place * (high_ - low_);
}

double Unknown::place_of(double value) const {
  if (value <= low_) return 0;
  if (value >= high_) return 1;
  return is_logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
}

double Unknown::number_of(const Json& written) const {
  switch (kind_) {
    case NodeKind::kRate:
      return parse_rate(written);
    case NodeKind::kDuration:
      return parse_duration(written);
    case NodeKind::kBytes:
      return parse_bytes(written);
    default:
      return written.get<double>();
  }
}

// Nine digits: the least of a rate is a bit a second, of a time a nanosecond.
Json Unknown::written(double value) const {
  switch (kind_) {
    case NodeKind::kRate:
      return format_number(std::round(value)) + "bps";
    case NodeKind::kDuration:
      return format_number(std::round(value * 1e9) / 1e9) + "s";
    case NodeKind::kBytes:
      return format_number(std::round(value)) + "B";
    default:
      return value;
  }
}

std::string Unknown::for_people(double value) const {
  switch (kind_) {
    case NodeKind::kRate:
      return human_rate(value);
    case NodeKind::kDuration:
      return human_duration(value);
    case NodeKind::kBytes:
      return human_bytes(value);
    default:
      return human_number(value);
  }
}

namespace {

Json value_of(const std::string& text) {
  try {
    return parse_json(text);
  } catch (const InputError&) {
    return text;
  }
}

// "PATH=FROM..TO" or "PATH=A|B|C".
std::pair<std::string, Json> of_assignment(const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string text = equals == std::string::npos ? "" : assignment.substr(equals + 1);
  const std::size_t dots = text.find("..");
  if (dots != std::string::npos)
    return {assignment.substr(0, equals),
            {{"from", value_of(text.substr(0, dots))}, {"to", value_of(text.substr(dots + 2))}}};
  if (text.find('|') == std::string::npos)
    throw InputError("--unknown", "found \"" + assignment + "\"", "PATH=FROM..TO, or PATH=VALUE|VALUE");
  Json choices = Json::array();
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('|', begin), text.size());
    choices.push_back(value_of(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return {assignment.substr(0, equals), choices};
}

// "methods.LABEL.key" is an option of the method of that label: its declaration, and null for what is none.
const Node* declared(const Json& scenario, const Node& declaration, const std::string& path) {
  const std::string prefix = "methods.";
  if (path.rfind(prefix, 0) != 0) return option_on_path(declaration, path);
  for (const Json& method : member(scenario, "methods")) {
    if (!method.is_object() || !method.contains("name")) continue;
    const std::string label = plain(method.value("label", method["name"]));
    if (path.rfind(prefix + label + ".", 0) == 0)
      return option_on_path(declaration,
                            prefix + plain(method["name"]) + path.substr(prefix.size() + label.size()));
  }
  return nullptr;
}

}  // namespace

std::vector<Unknown> unknowns_of(const Json& scenario, const Node& declaration,
                                 const std::vector<std::string>& assignments) {
  std::vector<std::pair<std::string, Json>> written;
  for (const std::string& assignment : assignments) written.push_back(of_assignment(assignment));
  const Json section = member(member(scenario, "fit"), "unknown");
  if (section.is_object())
    for (const auto& [path, what] : section.items())
      if (none_of(written, [&, path = path](const auto& one) { return one.first == path; }))
        written.emplace_back(path, what);
  if (written.empty())
    throw InputError("fit.unknown", "found none",
                     "{\"network.topology.star.rate\": {\"from\": \"1Mbps\", "
                     "\"to\": \"1Gbps\"}}, or --unknown",
                     "name what is to be found");
  std::vector<Unknown> unknowns;
  for (const auto& [path, what] : written) {
    const std::vector<std::string> not_of_a_case = {"fit",    "sweep", "claims", "validation",
                                                    "tables", "seeds", "name",   "description"};
    const Node* option = contains(not_of_a_case, path.substr(0, path.find('.')))
                             ? nullptr
                             : declared(scenario, declaration, path);
    if (option == nullptr || path.empty())
      throw InputError("fit.unknown", "found \"" + path + "\"",
                       "a key of the scenario that a sweep could have, as network.topology.star.rate",
                       "longhaul list options has them");
    unknowns.emplace_back(path, what, *option);
  }
  return unknowns;
}

}  // namespace longhaul
