// Losses of several methods after the same simulated time and after the same bytes: at parts of what the
// first of them to end had used, so that no curve is drawn on beyond its end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/comparison/comparison.h"
#include "analysis/comparison/loss_curve.h"
#include "analysis/comparison/samples.h"

namespace longhaul {

// Where the losses of a row are compared.
struct Horizon {
  double budget = 0;  // s, or bytes that one replica sends: the least that a seed of a group ends with
  std::string first;  // the group that ends with it
};

// The curves of a row of groups, read once.
class RowCurves {
 public:
  // Throws DamagedFile.
  explicit RowCurves(const std::vector<GroupSample>& groups);

  // None where not all groups trained, or there are fewer than two. What sends nothing ends at no bytes, and
  // is left out of that horizon alone.
  std::optional<Horizon> horizon(Budget kind) const;
  // Of a group, by seed; seeds that were never within the budget are left out.
  std::vector<SeedValue> losses(std::size_t group, Budget kind, double budget) const;
  std::size_t size() const { return groups_.size(); }
  const std::string& name(std::size_t group) const { return groups_[group].name; }

 private:
  struct Seed {
    Json seed;
    LossCurve curve;
  };
  struct Curves {
    std::string name;
    std::vector<Seed> seeds;
  };

  std::vector<Curves> groups_;
};

// A table for people: rows are groups, columns the shares of the horizon.
struct EqualBudgetTable {
  struct Cell {
    std::size_t seeds = 0;
    double mean = 0;
    Interval interval;  // 95 %, [mean, mean] of one seed
  };

  Budget kind = Budget::kSeconds;
  Horizon horizon;
  std::vector<double> budgets;                         // ascending
  std::vector<std::string> names;                      // of the groups
  std::vector<std::vector<std::optional<Cell>>> rows;  // [group][budget]; none: no seed was within it
};

// At a quarter, a half and the whole of the horizon; none where there is no horizon.
std::optional<EqualBudgetTable> equal_budget_table(const RowCurves& curves, Budget kind);

}  // namespace longhaul
