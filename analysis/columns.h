// The numbers of a record that people compare methods by: one declaration for the table of the terminal and
// that of the report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/options.h"

namespace longhaul {

struct Column {
  enum class Format { kLoss, kSpread, kDuration, kPercent, kBytes, kCount };

  std::string path;     // in a record, "sync_time_s.mean"
  std::string heading;  // for the terminal
  std::string title;    // for the report
  std::string meaning;
  Format format = Format::kCount;
  bool lower_is_better = false;  // otherwise no value of it is better than another
  bool of_exchanges = false;     // a method that never exchanges is out of competition
  int importance = 0;            // the terminal leaves out the highest first
};

const std::vector<Column>& columns();

// The value at a dotted path of a record; none where it is missing, null or no number.
std::optional<double> value_at(const Json& record, const std::string& path);

// "" where there is no value.
std::string formatted(const Column& column, const std::optional<double>& value);

// Which records hold the best value of `column`: [record]. Records compete with those of the same seed at the
// same point of the sweep that are done. None is best where fewer than two compete or all are equal.
std::vector<bool> best_values(const std::vector<Json>& records, const Column& column);

}  // namespace longhaul
