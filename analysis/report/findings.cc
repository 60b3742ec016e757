#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "analysis/record_values.h"
#include "analysis/report/parts.h"
#include "analysis/seed_rows.h"
#include "analysis/statistics.h"
#include "analysis/table.h"
#include "analysis/text.h"
#include "core/base/errors.h"

namespace longhaul {
namespace {

struct Measured {
  std::string method;
  double value = 0;
  std::string text;
};

// The mean over seeds of each method that has the value, lowest first.
std::vector<Measured> measured(const std::vector<SeedRow>& methods, const std::string& path) {
  const Metric metric = metric_named(path);
  std::vector<Measured> all;
  for (const SeedRow& method : methods) {
    const std::vector<double> values = values_at(method.done, path);
    if (!values.empty()) all.push_back({method.variant, mean(values), formatted(metric, mean(values))});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  return all;
}

// "0.41 s with noloco, 3.4 s with diloco and 4 s with ddp"
std::string listed(const std::vector<Measured>& all) {
  std::vector<std::string> parts;
  for (const Measured& measured : all)
    parts.push_back(fmt::format("{} with {}", measured.text, measured.method));
  return enumeration(parts, "and");
}

// "10.8 GB with diloco in 10 outer steps"
std::string payload(const std::vector<SeedRow>& methods) {
  const auto bytes = measured(methods, "bytes_sent_per_replica"), count = measured(methods, "exchanges");
  std::vector<std::string> parts;
  for (const Measured& sent : bytes) {
    const auto steps =
        std::find_if(count.begin(), count.end(), [&](const auto& c) { return c.method == sent.method; });
    if (sent.value == 0 || steps == count.end()) continue;
    parts.push_back(fmt::format("{} with {} in {} outer step{}", sent.text, sent.method, steps->text,
                                steps->value == 1 ? "" : "s"));
  }
  return parts.empty() ? "" : "Each replica sent " + join(parts) + ".";
}

std::string target(const std::vector<SeedRow>& methods) {
  const Metric time_to_target = metric_named("time_to_target_s");
  std::optional<double> goal;
  bool reached = false;
  std::vector<std::string> parts;
  for (const SeedRow& method : methods) {
    const std::vector<double> goals = values_at(method.done, time_to_target.target),
                              times = values_at(method.done, time_to_target.path);
    if (!goal && !goals.empty()) goal = goals[0];
    reached = reached || !times.empty();
    if (times.empty())
      parts.push_back("never with " + method.variant);
    else if (times.size() < method.done.size())
      parts.push_back(
          fmt::format("by {} of {} seeds of {}", times.size(), method.done.size(), method.variant));
    else
      parts.push_back(
          fmt::format("after {} with {}", formatted(time_to_target, mean(times)), method.variant));
  }
  if (!goal) return "";
  return reached
             ? fmt::format("In simulated time, the target loss of {:.6g} was reached {}.", *goal, join(parts))
             : fmt::format("No method reached the target loss of {:.6g}.", *goal);
}

// Below it a wait is rounding.
double least_wait(const std::vector<Measured>& sync) {
  return std::max(kLeastSeconds, sync.empty() ? 0 : 1e-3 * sync.back().value);
}

std::string seeds_note(const std::vector<SeedRow>& methods) {
  std::size_t fewest = methods[0].done.size(), most = fewest;
  for (const SeedRow& method : methods) {
    fewest = std::min(fewest, method.done.size());
    most = std::max(most, method.done.size());
  }
  if (most == 1)
    return methods.size() > 1 ? "This is one seed: a small difference between two losses may be chance." : "";
  return fmt::format("Each number is a mean over {}{} seeds.",
                     fewest == most ? "" : fmt::format("{} to ", fewest), most);
}

}  // namespace

std::vector<std::string> findings(const std::vector<Json>& records) {
  std::vector<SeedRow> methods = seed_rows(records);
  methods.erase(
      std::remove_if(methods.begin(), methods.end(), [](const SeedRow& row) { return row.done.empty(); }),
      methods.end());
  if (methods.empty()) return {};
  std::vector<std::string> sentences;
  const auto sync = measured(methods, "sync_time_s.mean"), wait = measured(methods, "wait_s.mean"),
             idle = measured(methods, "idle_fraction.mean"), losses = measured(methods, "final_loss"),
             time = measured(methods, "simulated_time_s");
  const auto entropy = measured(methods, "unigram_entropy");
  if (!time.empty()) sentences.push_back("In simulated time the whole run took " + listed(time) + ".");
  if (!losses.empty())
    sentences.push_back(fmt::format(
        "The final validation loss was {}{}.", listed(losses),
        entropy.empty() ? "" : fmt::format(" (the unigram entropy of the text is {})", entropy[0].text)));
  if (const std::string reached = target(methods); !reached.empty()) sentences.push_back(reached);
  if (const std::string sent = payload(methods); !sent.empty()) sentences.push_back(sent);
  if (!idle.empty() && idle.back().value > 0)
    sentences.push_back(fmt::format("The accelerators were idle {} of the time.", listed(idle)));
  if (!wait.empty() && wait.back().value >= least_wait(sync))
    sentences.push_back(fmt::format(
        "Before each exchange a replica waited on average {} for those it exchanges with.", listed(wait)));
  if (!sync.empty()) sentences.push_back(fmt::format("Synchronization took on average {}.", listed(sync)));
  if (const std::string note = sampling_note(records); !note.empty())
    sentences.push_back("L" + note.substr(1) + ".");
  if (!losses.empty() && !seeds_note(methods).empty()) sentences.push_back(seeds_note(methods));
  return sentences;
}

}  // namespace longhaul
