// A figure of lines over a swept number, for metrics and claims alike.
#pragma once

#include <string>
#include <vector>

#include "analysis/figures/figure.h"

namespace longhaul {

struct LinePoint {
  double x = 0, y = 0, low = 0, high = 0;  // low = high = y: without an interval
};

struct Line {
  std::string name, about, color;
  int dash = 1;
  std::vector<LinePoint> points;  // by x
  // What the points may be with the network model's error, drawn as a light band; empty: none.
  std::vector<LinePoint> possible = {};
};

// What a claim demands: everywhere, or at one x.
struct Threshold {
  std::string name;  // "claimed: at least 10"
  double y = 0;
  bool at_one_x = false;
  double x = 0;
};

struct LinePlot {
  std::string name, title;
  std::string x_title, x_unit, y_title, y_unit;  // units as axis_scale takes them
  bool bands = false;                            // low to high as a band; else as error bars
  std::vector<Line> lines;
  std::vector<Threshold> thresholds;
  std::string possible_name = "";  // of the light bands in the key
};

// Axes are logarithmic where their values span decades, x with style.log_x too. A logarithmic y axis is as
// long as the middles of the points: an interval that nearly reaches 0 would make many decades of nothing.
Figure line_figure(const LinePlot& plot, const FigureStyle& style);

}  // namespace longhaul
