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

}  // namespace longhaul
