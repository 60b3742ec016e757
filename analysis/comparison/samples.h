// Which cases stand where in a comparison: the row, the group of the row, the seed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/comparison/comparison.h"

namespace longhaul {

struct RunCase {
  const RunDirectory* run = nullptr;
  const Json* record = nullptr;
  std::map<std::string, double> measured = {};  // what is no number of the record, by metric

  std::optional<double> value_at(const std::string& metric) const;
};

// The seeds of one group; done cases only.
struct GroupSample {
  std::string name;
  std::string label;                    // of its method
  std::vector<RunCase> cases;           // by seed, each seed once
  std::vector<std::string> draws = {};  // of any of their replays (draws.h)
};

struct RowSample {
  std::string at;
  Json point;
  std::vector<GroupSample> groups;
};

struct Samples {
  std::vector<RowSample> rows;     // in the order of the first case of each
  std::vector<std::string> notes;  // what is left out, and why
};

// The records live in `runs`. Throws InputError for a key or value of the request that no case has.
Samples samples_of(const std::vector<RunDirectory>& runs, const ComparisonRequest& request);

}  // namespace longhaul
