#include "analysis/comparison/loss_curve.h"

#include <filesystem>

#include "core/base/csv.h"

namespace longhaul {

LossCurve LossCurve::of_case(const std::string& case_folder) {
  LossCurve curve;
  const std::string file = case_folder + "/metrics.csv";
  if (!std::filesystem::exists(file)) return curve;
  CsvStream rows(file, {"replica", "phase", "loss", "simulated_s", "bytes_sent"});
  while (rows.next())
    if (rows.text(0) == "mean")
      curve.points_.push_back({rows.number(3), rows.number(4), rows.number(2), rows.text(1) == "before",
                               rows.text(1) == "after"});
  return curve;
}

double LossCurve::end(Budget kind) const {
  return points_.empty() ? 0 : points_.back().used(kind);
}

double LossCurve::start(Budget kind) const {
  return points_.empty() ? 0 : points_.front().used(kind);
}

std::optional<double> LossCurve::within(Budget kind, double budget) const {
  const Point* last = nullptr;
  for (const Point& next : points_) {
    const double used = next.used(kind);
    if (used > budget) {
      if (!last) return std::nullopt;
      if (last->is_before && next.is_after) return last->loss;
      return last->loss + (next.loss - last->loss) * (budget - last->used(kind)) / (used - last->used(kind));
    }
    last = &next;
  }
  return last ? std::optional(last->loss) : std::nullopt;
}

}  // namespace longhaul
