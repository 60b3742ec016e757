// What was measured: the document of `python -m longhaul.observed`, or the figures of a scenario's section
// `validation` (docs/reference/formats/observed.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/operation_kind.h"

namespace longhaul {

// What one took, or the mean of `count`.
struct ObservedTime {
  double seconds = 0;
  double count = 1;
};

// Of equal exchanges what each took, from when the last member began until the last one was done.
struct ObservedExchange {
  std::string operation;  // "all-reduce"
  OperationKind kind = OperationKind::kAllReduce;
  std::int64_t bytes = 0;  // of one member, of all operations together
  int members = 0;
  int operations = 1;  // that were handed over at once
  std::vector<std::int64_t> parts;  // bytes of each of these; empty: all alike
  std::vector<ObservedTime> times;
  std::vector<double> begins_s;  // by member, medians, since the first one began; empty: not known
  double gap_s = 1;              // median, from the end of the one before it; where that is not known 1 s
  bool is_fitted = true;         // false: it is only predicted

  std::string name() const;  // for people: "all-reduce of 1.05 MB among 4"
};

// A number of a run: of the case that `where` singles out, by the name of the record's metric.
struct ObservedRow {
  std::string what, metric, of;  // of: label of a method; empty: the first
  Json where = Json::object();   // {dotted key: value}
  double value = 0;              // in the metric's unit
  bool is_fitted = true;
  std::string content = {};  // of a published figure: as of all observations
  std::string path = {};     // where it stands, in its file or in the scenario: "rows[0]"

  // Of a key of it.
  std::string path_of(const std::string& key) const { return path.empty() ? key : path + "." + key; }
};

struct Observations {
  std::string file;  // that they are of
  std::string
      content;  // a hash of it, or one of each published figure that is fitted; tells later what was fitted
  std::vector<ObservedExchange> exchanges;
  std::vector<ObservedRow> rows;
  std::vector<ObservedTime> steps;     // what a rank computed in each
  std::vector<std::string> notes;      // what was left out, for people
  std::vector<std::string> libraries;  // that carried the exchanges, where the files say so

  std::size_t fitted() const;  // numbers
};

// Of a file. Throws InputError with its name and the JSON path.
Observations read_observations(const std::string& file);
Observations observations_of(const Json& document, const std::string& file);

// Of the section `validation`, whose figures count from 1: those in `fitted` are fitted, the others only
// predicted; empty: all are fitted. Throws InputError.
Observations observations_of_figures(const Json& scenario, const std::vector<int>& fitted);

}  // namespace longhaul
