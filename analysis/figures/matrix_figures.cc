// The verdict matrix of each claim as a picture: what was measured at each point of the sweep, and the
// verdict.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/claims/claims.h"
#include "analysis/claims/verdict_matrix.h"
#include "analysis/figures/figure.h"
#include "analysis/figures/figures.h"
#include "analysis/record_values.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

constexpr std::size_t kMostColumns = 12, kMostRows = 24;  // of a picture that can be read

std::string digits_of(double value) {
  return value < 99.95 ? fmt::format("{:.2g}", value) : fmt::format("{:.0f}", value);
}

std::string range_of(const VerdictCell& cell) {
  if (!std::isfinite(cell.low)) return "not run";
  const std::string low = digits_of(cell.low), high = digits_of(cell.high);
  return low == high ? low : low + " - " + high;
}

std::string verdict_of(const VerdictCell& cell) {
  if (cell.holds == cell.points()) return "holds";
  if (cell.fails == cell.points()) return "fails";
  if (cell.undecided == cell.points()) return "undecided";
  return fmt::format("{} of {} hold", cell.holds, cell.points());
}

// Dark to light by verdict, so that a copy without colour shows it too.
std::string color_of(const VerdictCell& cell) {
  if (cell.holds == cell.points()) return "0x7FC8A9";
  if (cell.fails == cell.points()) return "0xFFFFFF";
  return "0xE9E9E9";
}

std::string tics_of(const std::vector<std::string>& names) {
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < names.size(); ++i)
    tics.push_back(figure_text(names[i].empty() ? "all" : names[i]) + " " + std::to_string(i));
  return "(" + join(tics) + ")";
}

Figure picture(const Json& claim, const VerdictMatrix& matrix, FigureStyle style) {
  std::string boxes;
  std::vector<std::string> settings, plots;
  for (std::size_t row = 0; row < matrix.rows.size(); ++row)
    for (std::size_t column = 0; column < matrix.columns.size(); ++column) {
      const VerdictCell& cell = matrix.cells[row][column];
      if (cell.points() == 0) continue;
      boxes += fmt::format("{} {} {}\n", column, row, color_of(cell));
      for (const auto& [text, above] : {std::pair(range_of(cell), 0.16), std::pair(verdict_of(cell), -0.18)})
        settings.push_back(fmt::format(
            "set label {} at {},{} center front font (format eq 'svg' ? ',{}' : ',{}')", figure_text(text),
            column, static_cast<double>(row) - above, above > 0 ? "11" : "9", above > 0 ? "8" : "6"));
    }
  const double last_row = static_cast<double>(matrix.rows.size()) - 0.5,
               last_column = static_cast<double>(matrix.columns.size()) - 0.5;
  style.graph_in = 0.75 + 0.36 * static_cast<double>(matrix.rows.size());
  for (const std::string& setting :
       {"set xlabel " + figure_text(last_key(matrix.column_key)),
        matrix.row_key.empty() ? std::string("unset ylabel")
                               : "set ylabel " + axis_text(last_key(matrix.row_key), style.graph_in - 0.5),
        fmt::format("set xrange [-0.5:{}]", last_column), fmt::format("set yrange [{}:-0.5]", last_row),
        "set xtics scale 0 " + tics_of(matrix.columns), "set ytics scale 0 " + tics_of(matrix.rows),
        std::string("unset grid"), std::string("set border 15"), std::string("unset key")})
    settings.push_back(setting);
  plots.push_back(
      "data using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):3 with boxxyerror lc rgb variable fs solid 1 "
      "border lc rgb '#777777' notitle");
  const std::string name = figure_name("matrix-" + plain(claim["id"]), "");
  const std::string title =
      fmt::format("Verdicts on {}. A cell has what was measured there, over all other swept values.",
                  claim_in_words(claim));
  return {name, figure_script(name, title, style, settings, plots),
          figure_data(title, "column row colour", {{"cells", "from 0", "", 1, boxes}})};
}

}  // namespace

std::vector<Figure> matrix_figures(const std::vector<RunDirectory>& runs, const FigureContext& context) {
  std::vector<Figure> figures;
  std::set<std::string> seen;
  for (const RunDirectory& run : runs) {
    std::vector<Json> records;
    for (const RunDirectory& other : runs)
      if (other.written == run.written)
        records.insert(records.end(), other.records.begin(), other.records.end());
    const Json claims = run.claims();
    for (const Json& claim : claims) {
      if (!seen.insert(run.written.dump() + claim.dump()).second) continue;
      const VerdictMatrix matrix = verdict_matrix(claim, records);
      if (matrix.cells.empty() || matrix.all.points() < 2) continue;
      if (matrix.columns.size() > kMostColumns || matrix.rows.size() > kMostRows)
        context.notes->push_back(
            fmt::format("the matrix of claim {} has {} rows and {} columns and is left out; "
                        "choose a part of the sweep with --where key=value",
                        plain(claim["id"]), matrix.rows.size(), matrix.columns.size()));
      else
        figures.push_back(picture(claim, matrix, context.style));
    }
  }
  return figures;
}

}  // namespace longhaul
