// How far the learning curve of a case was after a time, or after some bytes; and the losses of several
// methods after the same time and bytes: at parts of what the first of them to end had used, so that no curve
// is drawn on beyond its end.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/comparison/comparison.h"
#include "analysis/comparison/samples.h"

namespace longhaul {

enum class Budget { kSeconds, kBytes };

class LossCurve {
 public:
  // The rows `mean` of CASE_FOLDER/metrics.csv; empty where the case trained nothing. Throws DamagedFile.
  static LossCurve of_case(const std::string& case_folder);

  bool empty() const { return points_.empty(); }
  // What the last evaluation of a curve that is not empty had used: simulated seconds, or bytes that a
  // replica had sent; and the first.
  double end(Budget kind) const { return points_.back().used(kind); }
  double start(Budget kind) const { return points_.front().used(kind); }
  double first_loss() const { return points_.front().loss; }
  // The loss, mean over replicas, when so many seconds, or bytes, were used: between two evaluations on the
  // line through them, between those before and after an outer step the former; after the last evaluation
  // that one. What needed up to 0.1 % more counts as within. None where the first evaluation needed more.
  std::optional<double> within(Budget kind, double budget) const;

 private:
  struct Point {
    double seconds = 0, bytes = 0, loss = 0;
    bool is_before = false, is_after = false;  // an outer step

    double used(Budget kind) const { return kind == Budget::kSeconds ? seconds : bytes; }
  };

  std::vector<Point> points_;
};

// Where the losses of a row are compared.
struct Horizon {
  // s, or bytes that one replica sends, when the first of the groups ends: by seed, and this is their mean.
  double budget = 0;
  std::string first;  // the group that ends with the least of a seed
};

// The curves of a row of groups, read once.
class RowCurves {
 public:
  // Throws DamagedFile.
  explicit RowCurves(const std::vector<GroupSample>& groups);

  // None where not all groups trained, or there are fewer than two. What sends nothing ends at no bytes, and
  // is left out of that horizon alone.
  std::optional<Horizon> horizon(Budget kind) const;
  // Of a group, by seed, at `share` of where the first of the groups ends with that seed; seeds that were
  // never within it are left out.
  std::vector<SeedValue> losses(std::size_t group, Budget kind, double share) const;

 private:
  struct Seed {
    Json seed;
    LossCurve curve;
  };
  struct Curves {
    std::string name;
    std::vector<Seed> seeds;
  };

  std::map<std::string, double> ends(Budget kind) const;

  std::vector<Curves> groups_;
};

}  // namespace longhaul
