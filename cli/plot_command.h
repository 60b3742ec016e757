// longhaul plot RUN...: figures for papers, by gnuplot.
#pragma once

#include <string>
#include <vector>

#include "analysis/figures/figures.h"

namespace longhaul {

struct PlotOptions {
  std::vector<std::string> runs;
  std::string out;              // folder; "": RUN/figures for one run, figures for several
  std::string size = "single";  // or double
  std::string formats = "svg,pdf";
  FigureRequest request;  // its style is set from `size` and `formats`
};

// Writes a .gp and a .dat for each figure and runs gnuplot on them in that folder. What cannot be read is
// named on standard error. Throws InputError where gnuplot is missing or nothing can be read, RunError where
// gnuplot fails.
int plot_command(const PlotOptions& options);

// Where `program` is on the search path; "" if it is not.
std::string found_on_path(const std::string& program);

}  // namespace longhaul
