// All figures of run directories: curves of the loss, synchronization times, shares of the time, sweeps,
// claims.
#pragma once

#include <string>
#include <vector>

#include "analysis/comparison/samples.h"
#include "analysis/figures/figure.h"
#include "analysis/runs/run_directory.h"
#include "core/scenario/metrics.h"

namespace longhaul {

struct FigureRequest {
  std::vector<std::string> metrics;  // of the sweeps; empty: those that compare takes
  std::vector<std::string> where;    // "key=value": only these cases
  FigureStyle style;
  std::vector<std::string> only;  // names of figures, with * for any text; empty: all
};

struct Figures {
  std::vector<Figure> figures;
  std::vector<std::string> notes;  // what is left out, and why
};

// Throws InputError for a metric, key or value that no case has, and for a name that no figure has.
Figures figures_of(const std::vector<RunDirectory>& runs, const FigureRequest& request);

// What figures of cases side by side (rows of samples_of by method) have in common.
struct FigureContext {
  std::vector<std::string> labels;  // their places are their colours
  FigureStyle style;
  std::vector<std::string>* notes = nullptr;

  std::size_t place_of(const std::string& label) const;
};

// Each of these: the figures for one point of the sweep, none where there is no data.
std::vector<Figure> loss_figures(const RowSample& row, const FigureContext& context);
std::vector<Figure> sync_figures(const RowSample& row, const FigureContext& context);
std::vector<Figure> share_figures(const RowSample& row, const FigureContext& context);

// A metric against each swept key that is a number. `rows`: of samples_of by label.
std::vector<Figure> sweep_figures(const std::vector<RowSample>& rows, const Metric& metric,
                                  const FigureContext& context);

// What the claims of the runs are about, against the swept number that has most values, with their
// thresholds.
std::vector<Figure> claim_figures(const std::vector<RunDirectory>& runs, const FigureContext& context);

// Their verdict matrices (verdict_matrix.h).
std::vector<Figure> matrix_figures(const std::vector<RunDirectory>& runs, const FigureContext& context);

// The colour and dashes of the groups of a row: variants of one method share its colour, dashes differ, for
// copies without colour too.
std::vector<FigureSeries> series_of(const RowSample& row, const FigureContext& context);

}  // namespace longhaul
