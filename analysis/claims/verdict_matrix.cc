#include "analysis/claims/verdict_matrix.h"

#include <fmt/core.h>

#include <cmath>
#include <map>

#include "analysis/claims/claims.h"
#include "analysis/record_values.h"
#include "analysis/table.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/ranges.h"

namespace longhaul {
namespace {

struct Axis {
  std::string key;
  std::vector<std::string> values;  // in the order of the sweep, numbers by size
  double explained = 0;             // sum of squares between its values
  bool numbers = true;
};

std::size_t place_of(const std::vector<std::string>& values, const std::string& value) {
  return as_index(std::find(values.begin(), values.end(), value) - values.begin());
}

// Sum over the values of a key of n (mean of log(measured) at that value)², which differs from the sum of
// squares between them by the same constant for every key that all points have.
double explained_by(const std::string& key, const std::vector<JudgedPoint>& points) {
  std::map<std::string, std::pair<double, double>> sums;
  for (const JudgedPoint& point : points) {
    if (!(point.measured > 0) || !point.swept.contains(key)) continue;
    auto& [sum, count] = sums[point.swept[key].dump()];
    sum += std::log(point.measured);
    count += 1;
  }
  double all = 0, total = 0, between = 0;
  for (const auto& [value, sum] : sums) {
    all += sum.first;
    total += sum.second;
    between += sum.first * sum.first / sum.second;
  }
  return total > 0 ? between - all * all / total : 0;
}

// The keys with more than one value, what explains most first.
std::vector<Axis> axes_of(const std::vector<JudgedPoint>& points) {
  std::vector<Axis> axes;
  for (const JudgedPoint& point : points)
    for (const auto& [key, value] : point.swept.items()) {
      auto axis = find_if(axes, [&key = key](const Axis& a) { return a.key == key; });
      if (axis == axes.end()) axis = axes.insert(axes.end(), Axis{key, {}, explained_by(key, points), true});
      const std::string text = plain(value);
      if (place_of(axis->values, text) == axis->values.size()) axis->values.push_back(text);
      axis->numbers = axis->numbers && value.is_number();
    }
  drop_if(axes, [](const Axis& a) { return a.values.size() < 2; });
  // Objects of a sweep may come in any order; numbers have one of their own.
  for (Axis& axis : axes)
    if (axis.numbers)
      std::sort(axis.values.begin(), axis.values.end(),
                [](const std::string& a, const std::string& b) { return std::stod(a) < std::stod(b); });
  stable_sort(axes, [](const Axis& a, const Axis& b) { return a.explained > b.explained; });
  return axes;
}

void add(VerdictCell& cell, const JudgedPoint& point) {
  if (std::isfinite(point.measured)) {
    const bool first = cell.points() == 0 || std::isnan(cell.low);
    cell.possible_low = first ? point.possible.low : std::min(cell.possible_low, point.possible.low);
    cell.possible_high = first ? point.possible.high : std::max(cell.possible_high, point.possible.high);
    cell.low = first ? point.measured : std::min(cell.low, point.measured);
    cell.high = first ? point.measured : std::max(cell.high, point.measured);
  } else if (cell.points() == 0) {
    cell.low = cell.high = cell.possible_low = cell.possible_high = NAN;
  }
  ++(point.verdict == "holds" ? cell.holds : point.verdict == "fails" ? cell.fails : cell.undecided);
}

// What was measured in a cell, "3", "2.13 – 2.4", with as many digits as its verdict needs (beside_bound);
// "not run".
std::string range_in_words(const VerdictMatrix& matrix, const VerdictCell& cell) {
  if (std::isnan(cell.low)) return "not run";
  const std::string low = beside_bound(matrix.claim, cell.low), high = beside_bound(matrix.claim, cell.high);
  return low == high ? low : low + " – " + high;
}

std::string verdict(const VerdictCell& cell) {
  if (cell.holds == cell.points()) return "holds";
  if (cell.fails == cell.points()) return "fails";
  if (cell.undecided == cell.points()) return "undecided";
  std::vector<std::string> parts;
  for (const auto& [count, word] :
       {std::pair(cell.holds, "hold"), std::pair(cell.undecided, "undecided"), std::pair(cell.fails, "fail")})
    if (count > 0) parts.push_back(fmt::format("{} {}", count, word));
  return join(parts);
}

std::string cell_text(const VerdictMatrix& matrix, const VerdictCell& cell) {
  if (cell.points() == 0) return "";
  if (std::isnan(cell.low)) return range_in_words(matrix, cell);
  const std::string text = range_in_words(matrix, cell) + " " + verdict(cell);
  return cell.holds == cell.points() ? "**" + text + "**" : text;
}

bool has(const JudgedPoint& point, const std::string& key) {
  return key.empty() || point.swept.contains(key);
}

std::string point_in_words(const VerdictMatrix& matrix, const JudgedPoint& point) {
  std::vector<std::string> values;
  for (const auto& [key, value] : point.swept.items()) values.push_back(assignment(last_key(key), value));
  VerdictCell cell;
  add(cell, point);
  return join(values) + ": " +
         (std::isnan(cell.low) ? "not run" : range_in_words(matrix, cell) + " " + point.verdict);
}

std::string frontier_of_row(const VerdictMatrix& matrix, std::size_t row) {
  const std::vector<VerdictCell>& cells = matrix.cells[row];
  const std::string column = last_key(matrix.column_key);
  std::size_t from = cells.size(), highest = 0;
  bool any = false, all = true, measured = false;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].points() == 0) continue;
    all = all && cells[i].holds == cells[i].points();
    if (std::isnan(cells[i].high)) continue;
    any = any || cells[i].holds > 0;
    if (cells[i].holds < cells[i].points())
      from = cells.size();
    else if (from == cells.size())
      from = i;
    if (!measured || cells[i].high > cells[highest].high) highest = i;
    measured = true;
  }
  if (!measured) return "not run";
  const std::string most = fmt::format("{} at {} = {}", beside_bound(matrix.claim, cells[highest].high),
                                       column, matrix.columns[highest]);
  if (all) return "holds at every point; at most " + most;
  if (from < cells.size() && matrix.columns_are_numbers)
    return fmt::format("holds from {} = {} on; at most {}", column, matrix.columns[from], most);
  return (any ? "holds at some points; at most " : "holds nowhere; at most ") + most;
}

Json cells_json(const VerdictMatrix& matrix) {
  Json rows = Json::array();
  for (const auto& cells : matrix.cells) {
    Json row = Json::array();
    for (const VerdictCell& cell : cells)
      row.push_back(cell.points() == 0
                        ? Json(nullptr)
                        : Json({six_digits_or_null(cell.low), six_digits_or_null(cell.high), cell.holds,
                                cell.undecided, cell.fails, six_digits_or_null(cell.possible_low),
                                six_digits_or_null(cell.possible_high), range_in_words(matrix, cell)}));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json picture(const Json& claim, const VerdictMatrix& matrix) {
  const char* bound = claim.contains("at_least")  ? "at_least"
                      : claim.contains("at_most") ? "at_most"
                                                  : "equals";
  return {{"id", claim["id"]},
          {"statement", claim.value("statement", "")},
          {"words", claim_in_words(claim)},
          {"bound", bound},
          {"threshold", claim[bound]},
          {"points", matrix.all.points()},
          {"row_key", matrix.row_key},
          {"column_key", matrix.column_key},
          {"rows", matrix.rows},
          {"columns", matrix.columns},
          {"numbers", matrix.columns_are_numbers},
          {"cells", cells_json(matrix)},
          {"frontier", frontier(matrix)}};
}

}  // namespace

VerdictMatrix verdict_matrix(const Json& claim, const std::vector<Json>& records) {
  const std::vector<JudgedPoint> points = judged_points(claim, records);
  VerdictMatrix matrix;
  matrix.claim = claim;
  matrix.all.low = matrix.all.high = NAN;
  for (const JudgedPoint& point : points) add(matrix.all, point);
  std::vector<Axis> axes = axes_of(points);
  if (axes.empty()) return matrix;
  if (axes.size() == 1) axes.insert(axes.begin(), Axis{"", {""}, 0, false});  // one row
  const auto rank = [](const Axis& a) { return std::make_pair(a.numbers, a.values.size()); };
  if (!axes[0].key.empty() && rank(axes[0]) > rank(axes[1])) std::swap(axes[0], axes[1]);
  matrix.row_key = axes[0].key;
  matrix.column_key = axes[1].key;
  matrix.rows = axes[0].values;
  matrix.columns = axes[1].values;
  matrix.columns_are_numbers = axes[1].numbers;
  matrix.cells.assign(matrix.rows.size(), std::vector<VerdictCell>(matrix.columns.size()));
  for (const JudgedPoint& point : points) {
    if (!has(point, matrix.row_key) || !has(point, matrix.column_key)) {
      matrix.outside.push_back(point_in_words(matrix, point));
      continue;
    }
    add(matrix.cells[matrix.row_key.empty() ? 0 : place_of(matrix.rows, plain(point.swept[matrix.row_key]))]
                    [place_of(matrix.columns, plain(point.swept[matrix.column_key]))],
        point);
  }
  return matrix;
}

std::vector<std::string> frontier(const VerdictMatrix& matrix) {
  std::vector<std::string> lines;
  for (std::size_t row = 0; row < matrix.rows.size(); ++row)
    lines.push_back((matrix.rows[row].empty() ? "" : matrix.rows[row] + ": ") + frontier_of_row(matrix, row));
  constexpr std::size_t kMostOutside = 12;
  const std::size_t shown = std::min(matrix.outside.size(), kMostOutside);
  for (std::size_t i = 0; i < shown; ++i) lines.push_back("beside the table, " + matrix.outside[i]);
  if (const std::size_t more = matrix.outside.size() - shown; more > 0)
    lines.push_back(fmt::format("beside the table, {} more", counted(more, "point")));
  return lines;
}

namespace {

std::string condition_in_words(const std::string& key, const Json& value) {
  return value.is_null() ? key + " not varied" : assignment(key, value);
}

// "; a = 1; b not varied"; of a list "; a = 1; either b = 2 or b = 3, c = 4".
std::string where_in_words(const Json& where) {
  std::string text;
  if (!where.is_array()) {
    for (const auto& [key, value] : where.items()) text += "; " + condition_in_words(key, value);
    return text;
  }
  Json common = where[0];
  for (const auto& [key, value] : where[0].items())
    for (const Json& one : where)
      if (!one.contains(key) || one[key] != value) common.erase(key);
  std::vector<std::string> alternatives;
  for (const Json& one : where) {
    std::vector<std::string> conditions;
    for (const auto& [key, value] : one.items())
      if (!common.contains(key)) conditions.push_back(condition_in_words(key, value));
    alternatives.push_back(join(conditions));
  }
  return where_in_words(common) + "; either " + join(alternatives, " or ");
}

}  // namespace

std::string verdict_markdown(const Json& claim, const std::vector<Json>& records) {
  const VerdictMatrix matrix = verdict_matrix(claim, records);
  std::string text = fmt::format("### {}\n\n", markdown_text(plain(claim["id"])));
  const std::string statement = claim.value("statement", "");
  if (!statement.empty()) text += fmt::format("*{}*\n\n", markdown_text(statement));
  text += markdown_text(claim_in_words(claim));
  text += markdown_text(where_in_words(claim.value("where", Json::object())));
  if (matrix.all.points() == 0) return text + ". Not run.\n\n";
  text += fmt::format(". {}: {}, {}.\n\n", counted(as_index(matrix.all.points()), "point"),
                      range_in_words(matrix, matrix.all), verdict(matrix.all));
  if (matrix.rows.empty()) return text;
  std::vector<std::string> heading = matrix.columns;
  heading.insert(heading.begin(), (matrix.row_key.empty() ? "" : last_key(matrix.row_key) + " \\ ") +
                                      last_key(matrix.column_key));
  text += markdown_row(heading) + markdown_rule(std::string(heading.size(), 'l'));
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    std::vector<std::string> cells = {matrix.rows[row]};
    for (const VerdictCell& cell : matrix.cells[row]) cells.push_back(cell_text(matrix, cell));
    text += markdown_row(cells);
  }
  text += "\n";
  for (const std::string& line : frontier(matrix)) text += "- " + markdown_text(line) + "\n";
  return text + "\n";
}

Json claim_pictures(const Json& claims, const std::vector<Json>& records) {
  Json pictures = Json::array();
  for (const Json& claim : claims) {
    const VerdictMatrix matrix = verdict_matrix(claim, records);
    if (!matrix.cells.empty()) pictures.push_back(picture(claim, matrix));
  }
  return pictures;
}

}  // namespace longhaul
