#include "analysis/report/curves.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "analysis/csv_stream.h"
#include "analysis/report/report_data.h"

namespace longhaul {
namespace {

struct Point {
  std::int64_t step = 0;
  Json time_s, bytes, loss, of_mean, spread;
};

std::vector<Point> mean_rows(const std::string& file, bool replayed) {
  std::vector<std::string> columns = {"step", "replica", "loss", "loss_of_mean", "weight_spread"};
  if (replayed) columns.insert(columns.end(), {"simulated_s", "bytes_sent"});
  CsvStream rows(file, columns);
  std::vector<Point> points;
  const auto cell = [&](std::size_t column) {
    return column >= columns.size() || rows.empty(column) ? Json(nullptr)
                                                          : Json(six_digits(rows.number(column)));
  };
  while (rows.next())
    if (rows.text(1) == "mean")
      points.push_back({rows.integer(0), cell(5), cell(6), cell(2), cell(3), cell(4)});
  return points;
}

// The steps to keep: evenly spaced in the list of evaluated steps, the first and the last among them.
std::vector<std::int64_t> kept_steps(const std::vector<Point>& points, std::size_t most) {
  std::vector<std::int64_t> steps;
  for (const Point& point : points)
    if (steps.empty() || steps.back() != point.step) steps.push_back(point.step);
  const std::size_t room =
      std::max<std::size_t>(2, most * steps.size() / std::max<std::size_t>(1, points.size()));
  if (steps.size() <= room) return steps;
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < room; ++i) kept.push_back(steps[i * (steps.size() - 1) / (room - 1)]);
  return kept;
}

}  // namespace

Json curve_of(const std::string& case_folder, const std::string& train_folder, std::size_t points) {
  const std::string joined = case_folder + "/metrics.csv", trained = train_folder + "/metrics.csv";
  const bool replayed = std::filesystem::exists(joined);
  if (!replayed && (train_folder.empty() || !std::filesystem::exists(trained))) return nullptr;
  const std::vector<Point> all = mean_rows(replayed ? joined : trained, replayed);
  const std::vector<std::int64_t> kept = kept_steps(all, points);
  Json curve;
  for (const char* key : {"step", "time_s", "bytes", "loss", "of_mean", "spread"}) curve[key] = Json::array();
  for (const Point& point : all) {
    if (!std::binary_search(kept.begin(), kept.end(), point.step)) continue;
    curve["step"].push_back(point.step);
    curve["time_s"].push_back(point.time_s);
    curve["bytes"].push_back(point.bytes);
    curve["loss"].push_back(point.loss);
    curve["of_mean"].push_back(point.of_mean);
    curve["spread"].push_back(point.spread);
  }
  return curve;
}

}  // namespace longhaul
