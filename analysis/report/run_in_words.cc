#include "analysis/report/run_in_words.h"

#include <fmt/core.h>

#include <string>

#include "analysis/record_values.h"
#include "analysis/text.h"
#include "core/base/json.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

// JSON as people write it: "name ddp; name diloco, inner_steps 20", "topology (star (rate 1Gbps, rtt 50ms))".
std::string listed(const Json& value) {
  if (value.is_array()) return join(each_of(value, listed), "; ");
  if (value.is_number_float()) return format_number(value);  // 1e+09, where JSON has 1000000000.0
  if (!value.is_object()) return plain(value);
  std::vector<std::string> parts;
  for (const auto& [key, child] : value.items())
    parts.push_back(fmt::format(child.is_structured() ? "{} ({})" : "{} {}", key, listed(child)));
  return join(parts);
}

constexpr std::size_t kMostValues = 10;

// "8", or "8, 16, 32" where it is swept.
std::string values_in(const std::vector<Json>& records, const std::string& key) {
  std::vector<std::string> values;
  for (const Json& record : records) {
    const std::string value = text_of(record, key);
    if (value != "?") add_new(value, values);
  }
  if (values.size() <= kMostValues) return join(values);
  const std::vector<std::string> first(values.begin(), values.begin() + kMostValues - 1);
  return fmt::format("{}, …, {} ({} values)", join(first), values.back(), values.size());
}

// Of drawn groups that leave some replicas over; "" where none does.
std::string sitting_out_in_words(const std::vector<Json>& records) {
  std::vector<Json> those;
  for (const Json& record : records)
    if (record.contains("sitting_out")) those.push_back(record);
  if (those.empty()) return "";
  return fmt::format("; with {} some sit out each outer step, drawn anew: {} of {}",
                     values_in(those, "label"), values_in(those, "sitting_out"),
                     values_in(those, "replicas"));
}

std::string sweep_in_words(const std::vector<Json>& records) {
  std::vector<std::string> parts;
  for (const std::string& key : swept_keys(records)) parts.push_back(key + ": " + values_in(records, key));
  return join(parts, "; ");
}

}  // namespace

Json run_in_words(const Json& written, const std::vector<Json>& records) {
  Json words = Json::array();
  const auto say = [&](const char* term, const std::string& text) {
    if (!text.empty()) words.push_back({{"term", term}, {"text", text}});
  };
  say("Replicas", values_in(records, "replicas") + sitting_out_in_words(records));
  for (const auto& [term, key] : {std::pair("Methods", "methods"), std::pair("Pipeline", "pipeline"),
                                  std::pair("Model trained", "train"), std::pair("What travels", "workload"),
                                  std::pair("Network", "network"), std::pair("Rollouts", "rollouts"),
                                  std::pair("Faults", "faults"), std::pair("Recovery", "recovery")})
    if (const Json section = member(written, key); !section.is_null()) say(term, listed(section));
  say("Swept", sweep_in_words(records));
  say("Seeds", values_in(records, "seed"));
  return words;
}

}  // namespace longhaul
