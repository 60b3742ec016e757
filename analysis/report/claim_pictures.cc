#include "analysis/claims/claims.h"
#include "analysis/claims/verdict_matrix.h"
#include "analysis/record_values.h"
#include "analysis/report/parts.h"

namespace longhaul {
namespace {

Json cells_json(const VerdictMatrix& matrix) {
  Json rows = Json::array();
  for (const auto& cells : matrix.cells) {
    Json row = Json::array();
    for (const VerdictCell& cell : cells)
      row.push_back(cell.points() == 0 ? Json(nullptr)
                                       : Json({six_digits_or_null(cell.low), six_digits_or_null(cell.high),
                                               cell.holds, cell.undecided, cell.fails}));
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
          {"within", claim.value("within", 0.)},
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

Json claim_pictures(const Json& claims, const std::vector<Json>& records) {
  Json pictures = Json::array();
  for (const Json& claim : claims) {
    const VerdictMatrix matrix = verdict_matrix(claim, records);
    if (!matrix.cells.empty()) pictures.push_back(picture(claim, matrix));
  }
  return pictures;
}

}  // namespace longhaul
