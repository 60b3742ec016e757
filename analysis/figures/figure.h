// A figure for a paper: a gnuplot script and its data, which anyone can restyle and run again.
//
// NAME.gp reads NAME.dat in its own folder and writes NAME.svg, NAME.pdf (cairo, fonts embedded) and, if
// asked for, NAME-latex.tex with its NAME-latex.pdf (cairolatex). It needs gnuplot 5 and nothing else of
// ours.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

struct Figure {
  std::string name;  // of its files, without an ending
  std::string gp, dat;
};

// How all figures of a call are made.
struct FigureStyle {
  bool double_column = false;                         // 7.2 in wide; single: 3.5 in
  std::vector<std::string> formats = {"svg", "pdf"};  // of svg, pdf, tex
};

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

// The whole script: `settings` are gnuplot commands (axes, labels), `plots` the elements of its plot command.
std::string figure_script(const std::string& name, const std::string& title, const FigureStyle& style,
                          const std::vector<std::string>& settings, const std::vector<std::string>& plots);

// A gnuplot expression for a text, which for LaTeX is another one where it has special characters:
// (format eq 'tex' ? 'a\_b' : 'a_b').
std::string figure_text(const std::string& text);

// "loss-time" and "network.tcp.connections = 8, replicas = 64" as "loss-time-connections-8-replicas-64".
std::string figure_name(const std::string& kind, const std::string& point);

// "#0072B2" for the first label and so on, "#000000" for ink.
std::string method_color(std::size_t place);

}  // namespace longhaul
