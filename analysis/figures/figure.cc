#include "analysis/figures/figure.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "analysis/palette.h"
#include "core/errors.h"
#include "core/index.h"

namespace longhaul {
namespace {

// Single quotes: nothing inside is special to gnuplot but the quote itself.
std::string quoted(const std::string& text) {
  std::string safe = "'";
  for (const char c : text)
    safe += c == '\'' ? std::string("''") : c == '\n' ? std::string(" ") : std::string(1, c);
  return safe + "'";
}

std::string for_latex(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\') {
      safe += "\\textbackslash{}";
      continue;
    }
    if (c == '~' || c == '^') {
      safe += std::string("\\") + c + "{}";
      continue;
    }
    if (std::string("_%#&${}").find(c) != std::string::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::size_t width_of(const std::string& text) {
  return as_index(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// How many lines the key takes above the graph, about: as many columns as its longest entry allows.
std::size_t key_lines(const std::vector<std::string>& plots, bool double_column) {
  std::size_t entries = 0, longest = 1;
  for (const std::string& plot : plots) {
    const std::size_t title = plot.find(" title ");
    if (title == std::string::npos) continue;
    ++entries;
    const std::size_t last = plot.rfind('\'');
    const std::size_t first = plot.rfind('\'', last - 1);
    longest = std::max(longest, width_of(plot.substr(first, last - first)));
  }
  const std::size_t columns = std::max<std::size_t>(1, (double_column ? 110 : 48) / (longest + 7));
  return (entries + columns - 1) / columns;
}

// The width of a column of the usual two-column page, and of the page. The graph keeps its height under a
// long key.
std::string size_line(const std::vector<std::string>& plots, bool double_column) {
  constexpr double kKeyLine = 0.12;  // inches
  const double key = kKeyLine * static_cast<double>(key_lines(plots, double_column));
  char text[96];
  std::snprintf(text, sizeof text, "width = %.1f; height = %.2f    # inches: %s", double_column ? 7.2 : 3.5,
                (double_column ? 2.9 : 2.2) + key, double_column ? "two columns" : "one column");
  return text;
}

const char* const kTerminals =
    "  if (format eq 'svg') { set terminal svg size 96*width,96*height noenhanced font 'Sans,11' background "
    "'white' }\n"
    "  if (format eq 'pdf') { set terminal pdfcairo size width,height noenhanced font 'Sans,8' }\n"
    "  if (format eq 'tex') { set terminal cairolatex pdf size width,height }\n"
    "  set output name.(format eq 'tex' ? '-latex.' : '.').format\n";

const char* const kLook =
    "  set border 3 lw 0.8\n"
    "  set tics nomirror out scale 0.5\n"
    "  set grid back lc rgb '#dddddd' lt 1 lw 0.6\n"
    "  set key above samplen 1.5\n";

// "network.tcp.connections = 8" as "connections-8"
std::string name_part(const std::string& assignment) {
  const std::size_t equals = assignment.find(" = ");
  if (equals == std::string::npos) return assignment;
  const std::string key = assignment.substr(0, equals);
  return key.substr(key.rfind('.') + 1) + "-" + assignment.substr(equals + 3);
}

}  // namespace

std::string figure_text(const std::string& text) {
  const std::string latex = for_latex(text);
  if (latex == text) return quoted(text);
  return "(format eq 'tex' ? " + quoted(latex) + " : " + quoted(text) + ")";
}

std::string figure_data(const std::string& title, const std::string& columns,
                        const std::vector<FigureSeries>& series) {
  std::string data = "# " + one_line(title) + "\n";
  for (std::size_t i = 0; i < series.size(); ++i)
    data += (i ? "\n\n" : "") + std::string("# index ") + std::to_string(i) + ": " +
            one_line(series[i].name) + (series[i].about.empty() ? "" : ", " + series[i].about) + "\n# " +
            columns + "\n" + series[i].rows;
  return data;
}

std::string figure_script(const std::string& name, const std::string& title, const FigureStyle& style,
                          const std::vector<std::string>& settings, const std::vector<std::string>& plots) {
  std::string script =
      "# " + one_line(title) + "\n# Made by longhaul plot; run it again in this folder: gnuplot " + name +
      ".gp\nreset\nname = " + quoted(name) +
      "\ndata = name.'.dat'\nformats = " + quoted(join(style.formats, " ")) + "    # svg, pdf, tex\n" +
      size_line(plots, style.double_column) + "\ndo for [format in formats] {\n" + kTerminals + kLook;
  for (const std::string& setting : settings) script += "  " + setting + "\n";
  script += "  plot " + join(plots, ", \\\n       ") + "\n  unset output\n}\n";
  return script;
}

std::string figure_name(const std::string& kind, const std::string& point) {
  std::string name = kind;
  for (std::size_t start = 0; start < point.size();) {
    const std::size_t end = std::min(point.find(", ", start), point.size());
    name += "-" + name_part(point.substr(start, end - start));
    start = end + 2;
  }
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '+') c = '_';
  return name.substr(0, 120);
}

std::string method_color(std::size_t place) {
  const std::string color = method_palette()[place % method_palette().size()];
  return color == "ink" ? "#000000" : color;
}

}  // namespace longhaul
