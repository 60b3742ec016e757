#include "analysis/columns.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "analysis/sweep_point.h"
#include "core/units.h"

namespace longhaul {
namespace {

using Format = Column::Format;

struct Competition {
  int competitors = 0;
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
};

std::string printed(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::optional<double> competing_value(const Json& record, const Column& column) {
  if (!column.lower_is_better || record.value("status", "") != "done") return std::nullopt;
  if (column.of_exchanges && record.value("exchanges", 0) == 0) return std::nullopt;
  return value_at(record, column.path);
}

std::string competition_of(const Json& record) {
  return sweep_point(record) + ", seed " + record.value("seed", Json()).dump();
}

}  // namespace

const std::vector<Column>& columns() {
  static const std::vector<Column> all = {
      {"final_loss", "loss", "Final loss", "validation loss after the last step, mean over replicas, in nats",
       Format::kLoss, true, false, 1},
      {"final_loss_of_mean", "of mean", "Loss of mean",
       "validation loss of the averaged weights after the last step", Format::kLoss, true, false, 11},
      {"weight_spread", "spread", "Weight spread",
       "root mean square distance of the replicas' weights from their mean", Format::kSpread, false, false,
       9},
      {"sync_time_s.mean", "sync", "Sync, mean",
       "from the moment all it needs are ready until a replica goes on", Format::kDuration, true, true, 2},
      {"sync_time_s.p95", "p95", "Sync, p95", "95th percentile of the synchronization time",
       Format::kDuration, true, true, 5},
      {"wait_s.mean", "wait", "Wait, mean", "until the last of those a replica must hear from is ready",
       Format::kDuration, true, true, 6},
      {"exposed_s.mean", "exposed", "Exposed, mean",
       "what a replica stands still for a synchronization: wait and sync, less what overlaps with compute",
       Format::kDuration, true, true, 7},
      {"idle_fraction.mean", "idle", "Idle",
       "share of its time in which an accelerator could compute and does not", Format::kPercent, true, true,
       4},
      {"simulated_time_s", "simulated", "Simulated time", "the clock of the last replica after the last step",
       Format::kDuration, true, true, 3},
      {"bytes_sent_per_replica", "sent", "Sent per replica", "payload that one replica sent in the whole run",
       Format::kBytes, true, true, 8},
      {"exchanges", "syncs", "Outer steps", "how many times each replica synchronized", Format::kCount, false,
       true, 10},
  };
  return all;
}

std::optional<double> value_at(const Json& record, const std::string& path) {
  const Json* value = &record;
  std::size_t start = 0;
  while (start <= path.size()) {
    const std::size_t dot = std::min(path.find('.', start), path.size());
    const auto member = value->is_object() ? value->find(path.substr(start, dot - start)) : value->end();
    if (!value->is_object() || member == value->end()) return std::nullopt;
    value = &*member;
    start = dot + 1;
  }
  if (!value->is_number()) return std::nullopt;
  return value->get<double>();
}

std::string formatted(const Column& column, const std::optional<double>& value) {
  if (!value) return "";
  switch (column.format) {
    case Format::kLoss:
      return printed("%.3f", *value);
    case Format::kSpread:
      return *value == 0 ? "0" : printed("%.2e", *value);
    case Format::kDuration:
      return *value == 0 ? "0 s" : human_duration(*value);
    case Format::kPercent:
      return printed("%.1f %%", 100 * *value);
    case Format::kBytes:
      return human_bytes(*value);
    case Format::kCount:
      return printed("%.0f", *value);
  }
  return "";
}

std::vector<bool> best_values(const std::vector<Json>& records, const Column& column) {
  std::map<std::string, Competition> competitions;
  for (const Json& record : records) {
    const std::optional<double> value = competing_value(record, column);
    if (!value) continue;
    Competition& competition = competitions[competition_of(record)];
    ++competition.competitors;
    competition.lowest = std::min(competition.lowest, *value);
    competition.highest = std::max(competition.highest, *value);
  }
  std::vector<bool> best;
  for (const Json& record : records) {
    const std::optional<double> value = competing_value(record, column);
    const Competition competition = value ? competitions[competition_of(record)] : Competition();
    // What looks the same is not better: a difference below the digits that are shown marks nobody.
    best.push_back(competition.competitors >= 2 && *value == competition.lowest &&
                   formatted(column, competition.lowest) != formatted(column, competition.highest));
  }
  return best;
}

}  // namespace longhaul
