#include "analysis/report/findings.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>

#include "analysis/sampling_note.h"
#include "analysis/statistics.h"
#include "analysis/sweep_point.h"
#include "analysis/table.h"
#include "core/errors.h"

namespace longhaul {
namespace {

struct MethodCases {
  std::string name;
  std::vector<const Json*> records;  // one a seed
};

std::vector<MethodCases> by_method(const std::vector<Json>& records) {
  std::vector<MethodCases> methods;
  for (const Json& record : records) {
    if (record.value("status", "") != "done") continue;
    const std::string name = method_variant(record);
    const auto found =
        std::find_if(methods.begin(), methods.end(), [&](const auto& m) { return m.name == name; });
    MethodCases& method = found == methods.end() ? methods.emplace_back() : *found;
    method.name = name;
    method.records.push_back(&record);
  }
  return methods;
}

struct Measured {
  std::string method;
  double value = 0;
  std::string text;
};

// The mean over seeds of each method that has the value, lowest first.
std::vector<Measured> measured(const std::vector<MethodCases>& methods, const std::string& path) {
  const Metric metric = metric_named(path);
  std::vector<Measured> all;
  for (const MethodCases& method : methods) {
    std::vector<double> values;
    for (const Json* record : method.records)
      if (const auto value = value_at(*record, path)) values.push_back(*value);
    if (!values.empty()) all.push_back({method.name, mean(values), formatted(metric, mean(values))});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  return all;
}

std::string printed(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// "0.41 s with noloco, 3.4 s with diloco and 4 s with ddp"
std::string listed(const std::vector<Measured>& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i)
    text += (i == 0 ? "" : i + 1 == all.size() ? " and " : ", ") + all[i].text + " with " + all[i].method;
  return text;
}

std::string times_as_long(double ratio) {
  if (ratio < 1.05) return "about as long";
  return printed(ratio < 10 ? "%.1f" : "%.0f", ratio) + " times as long";
}

std::string synchronization(const std::vector<Measured>& sync) {
  std::string text = "Synchronization took " + sync[0].text + " on average with " + sync[0].method;
  for (std::size_t i = 1; i < sync.size(); ++i) {
    text += (i + 1 == sync.size() ? " and " : ", ") + sync[i].text + " with " + sync[i].method;
    if (sync[0].value > 0) text += " (" + times_as_long(sync[i].value / sync[0].value) + ")";
  }
  return text + ".";
}

// "10.8 GB with diloco in 10 outer steps"
std::string payload(const std::vector<MethodCases>& methods) {
  const auto bytes = measured(methods, "bytes_sent_per_replica"), count = measured(methods, "exchanges");
  std::vector<std::string> parts;
  for (const Measured& sent : bytes) {
    const auto steps =
        std::find_if(count.begin(), count.end(), [&](const auto& c) { return c.method == sent.method; });
    if (sent.value == 0 || steps == count.end()) continue;
    parts.push_back(sent.text + " with " + sent.method + " in " + steps->text +
                    (steps->value == 1 ? " outer step" : " outer steps"));
  }
  return parts.empty() ? "" : "Each replica sent " + join(parts) + ".";
}

std::string target(const std::vector<MethodCases>& methods) {
  const Metric time_to_target = metric_named("time_to_target_s");
  std::optional<double> goal;
  bool reached = false;
  std::vector<std::string> parts;
  for (const MethodCases& method : methods) {
    std::vector<double> times;
    for (const Json* record : method.records) {
      if (!goal) goal = value_at(*record, time_to_target.target);
      if (const auto time = value_at(*record, time_to_target.path)) times.push_back(*time);
    }
    reached = reached || !times.empty();
    if (times.empty())
      parts.push_back("never with " + method.name);
    else if (times.size() < method.records.size())
      parts.push_back("by " + std::to_string(times.size()) + " of " + std::to_string(method.records.size()) +
                      " seeds of " + method.name);
    else
      parts.push_back("after " + formatted(time_to_target, mean(times)) + " with " + method.name);
  }
  if (!goal) return "";
  const std::string what = "the target loss of " + printed("%g", *goal);
  return reached ? "In simulated time, " + what + " was reached " + join(parts) + "."
                 : "No method reached " + what + ".";
}

std::string entropy_note(const std::vector<MethodCases>& methods) {
  const auto entropy = measured(methods, "unigram_entropy");
  return entropy.empty() ? "" : " (the unigram entropy of the text is " + entropy[0].text + ")";
}

std::string seeds_note(const std::vector<MethodCases>& methods) {
  std::size_t fewest = methods[0].records.size(), most = fewest;
  for (const MethodCases& method : methods) {
    fewest = std::min(fewest, method.records.size());
    most = std::max(most, method.records.size());
  }
  if (most == 1)
    return methods.size() > 1 ? "This is one seed: a small difference between two losses may be chance." : "";
  return "Each number is a mean over " + (fewest == most ? "" : std::to_string(fewest) + " to ") +
         std::to_string(most) + " seeds.";
}

}  // namespace

std::vector<std::string> findings(const std::vector<Json>& records) {
  const std::vector<MethodCases> methods = by_method(records);
  if (methods.empty()) return {};
  std::vector<std::string> sentences;
  const auto sync = measured(methods, "sync_time_s.mean"), wait = measured(methods, "wait_s.mean"),
             idle = measured(methods, "idle_fraction.mean"), losses = measured(methods, "final_loss"),
             time = measured(methods, "simulated_time_s");
  if (!sync.empty()) sentences.push_back(synchronization(sync));
  if (!wait.empty() && wait.back().value > 0)
    sentences.push_back("Before each exchange a replica waited on average " + listed(wait) +
                        " for those it exchanges with.");
  if (const std::string sent = payload(methods); !sent.empty()) sentences.push_back(sent);
  if (!idle.empty() && idle.back().value > 0)
    sentences.push_back("The accelerators were idle " + listed(idle) + " of the time.");
  if (!time.empty()) sentences.push_back("In simulated time the whole run took " + listed(time) + ".");
  if (!losses.empty())
    sentences.push_back("The final validation loss was " + listed(losses) + entropy_note(methods) + ".");
  if (const std::string note = sampling_note(records); !note.empty())
    sentences.push_back("L" + note.substr(1) + ".");
  if (const std::string reached = target(methods); !reached.empty()) sentences.push_back(reached);
  if (!losses.empty() && !seeds_note(methods).empty()) sentences.push_back(seeds_note(methods));
  return sentences;
}

}  // namespace longhaul
