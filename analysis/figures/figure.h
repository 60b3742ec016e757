// A figure for a paper: a gnuplot script and its data, which anyone can restyle and run again.
//
// NAME.gp reads NAME.dat in its own folder and writes NAME.svg and NAME.pdf (cairo, fonts embedded). It needs
// gnuplot 5 and nothing else of ours.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/options.h"

namespace longhaul {

// A swept value as a number: 8, "500ms", "1Gbps", "10MB". `unit` is "", "s", "bit/s" or "B".
struct AxisValue {
  double number = 0;
  std::string unit;
};

// The unit that an axis of `values` is written in.
struct AxisScale {
  double divisor = 1;
  std::string unit;  // "ms", "Gbit/s", ""
};

struct Figure {
  std::string name;  // of its files, without an ending
  std::string gp, dat;
};

// How all figures of a call are made.
struct FigureStyle {
  bool double_column = false;                         // 7.2 in wide; single: 3.5 in
  std::vector<std::string> formats = {"svg", "pdf"};  // of svg, pdf
  bool log_x = false;                                 // also where the values do not span decades
  double graph_in = 0;                                // height without the key, inches; 0: as usual
};

// What the figure is about: the first line of its data.
std::string figure_title(const Figure& figure);

// One curve, band, or set of bars of a figure.
struct FigureSeries {
  std::string name;   // for the key
  std::string about;  // a remark in the data file: "mean of 5 seeds"
  std::string color;  // "#0072B2"
  int dash = 1;       // gnuplot's dash type, from 1
  std::string rows;   // lines of the data file
};

// The data blocks in the order of `series` (gnuplot's `index`), each with its name and `columns` in a remark.
std::string figure_data(const std::string& title, const std::string& columns,
                        const std::vector<FigureSeries>& series);

// A line of the data: numbers with blanks between.
std::string data_row(const std::vector<double>& numbers);

// The whole script: `settings` are gnuplot commands (axes, labels), `plots` the elements of its plot command.
std::string figure_script(const std::string& name, const std::string& title, const FigureStyle& style,
                          const std::vector<std::string>& settings, const std::vector<std::string>& plots);

// A text in single quotes: nothing inside is special to gnuplot but the quote itself.
std::string figure_text(const std::string& text);

// "loss-time" and "network.tcp.connections = 8, replicas = 64" as "loss-time-connections-8-replicas-64".
std::string figure_name(const std::string& kind, const std::string& point);

// The same for the title of an axis `inches` long: in two lines where one would be longer than that.
std::string axis_text(const std::string& text, double inches);

// Where a logarithmic axis from `low` to `high` (both positive) has marks, at most `most` of them: at 1, 2
// and 5 times powers of ten, or at 1, 10 and 100, or at every second, third ... of these.
std::vector<double> log_marks(double low, double high, std::size_t most);

// Marks from `low` to `high` at equal steps of 1, 2 or 5 times a power of ten, at most one more than `most`.
std::vector<double> linear_marks(double low, double high, std::size_t most);

// The gnuplot commands of a logarithmic axis ("x", "y") over these positive values, which are in the unit of
// the axis: it ends where they end, with some room, and has at most `most` marks.
std::vector<std::string> log_axis(const std::string& axis, const std::vector<double>& values,
                                  std::size_t most);

// "#0072B2" for the first label and so on, "#000000" for ink.
std::string method_color(std::size_t place);

// "($1/1000)": a column of the data in the unit of an axis.
std::string scaled_column(int column, const AxisScale& scale);

std::optional<AxisValue> axis_value(const Json& value);

// For values in `unit` ("s", "bit/s", "B", anything else stays as it is) with this largest one.
AxisScale axis_scale(const std::string& unit, double largest);

// Whether all are positive and the largest is at least twenty times the smallest.
bool spans_decades(const std::vector<double>& values);

// Whether ascending positive values, three at least, are spaced more evenly by ratio than by difference: 4,
// 8, 16.
bool is_geometric(const std::vector<double>& values);

// "sync_time_s.mean" as "sync time, mean": the unit stands beside it and is not always seconds.
std::string axis_words(const std::string& path);

// "simulated time (min)"
std::string axis_title(const std::string& what, const std::string& unit);

}  // namespace longhaul
