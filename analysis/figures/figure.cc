#include "analysis/figures/figure.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "analysis/palette.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// The last text between single quotes in `plot`, as it is drawn.
std::string last_quoted(const std::string& plot) {
  std::string text;
  for (std::size_t place = std::min(plot.rfind('\''), plot.size()); place-- > 0;) {
    if (plot[place] == '\'' && (place == 0 || plot[--place] != '\'')) break;  // two are one of the text
    text += plot[place];
  }
  return {text.rbegin(), text.rend()};
}

struct Key {
  std::size_t entries = 0, longest = 1;  // characters
  // Above the graph, or with many entries beside it.
  bool is_beside = false;

  Key(const std::vector<std::string>& plots, bool double_column) {
    for (const std::string& plot : plots) {
      const std::size_t title = plot.find(" title ");
      if (title == std::string::npos) continue;
      ++entries;
      longest = std::max(longest, 1 + width_of(last_quoted(plot)));
    }
    constexpr std::size_t kManyEntries = 12;
    is_beside = double_column && entries > kManyEntries;
  }

  // That it takes, about: above the graph in as many columns as its longest entry allows.
  std::size_t lines(bool double_column) const {
    const std::size_t columns = std::max<std::size_t>(1, (double_column ? 110 : 48) / (longest + 7));
    return is_beside ? entries : (entries + columns - 1) / columns;
  }
};

// The width of a column of the usual two-column page, and of the page. The graph keeps its height under a
// long key.
std::string size_line(const std::vector<std::string>& plots, const FigureStyle& style) {
  constexpr double kKeyLine = 0.12, kBesideLine = 0.19;  // inches
  const Key key(plots, style.double_column);
  const auto lines = static_cast<double>(key.lines(style.double_column));
  const double usual = style.double_column ? 2.9 : 2.2, graph = style.graph_in > 0 ? style.graph_in : usual;
  return fmt::format("width = {:.1f}; height = {:.2f}    # inches: {}", style.double_column ? 7.2 : 3.5,
                     key.is_beside ? std::max(graph, 0.7 + kBesideLine * lines) : graph + kKeyLine * lines,
                     style.double_column ? "two columns" : "one column");
}

// The svg terminal takes letters for wider than they are: at 128 pixels an inch its key and margins leave as
// much room as the pdf's, and `width` takes back what it adds to each entry of the key.
const char* const kTerminals =
    "  if (format eq 'svg') { set terminal svg size 128*width,128*height noenhanced font 'Sans,11' "
    "background "
    "'white' }\n"
    "  if (format eq 'pdf') { set terminal pdfcairo size width,height noenhanced font 'Sans,8' }\n"
    "  set output name.'.'.format\n";

const char* const kLook =
    "  set border 3 lw 0.8\n"
    "  set tics nomirror out scale 0.5\n"
    "  set grid back lc rgb '#dddddd' lt 1 lw 0.6\n";

// "network.tcp.connections = 8" as "connections-8"
std::string name_part(const std::string& assignment) {
  const std::size_t equals = assignment.find(" = ");
  if (equals == std::string::npos) return assignment;
  return last_key(assignment.substr(0, equals)) + "-" + assignment.substr(equals + 3);
}

constexpr double kDecades = 20;

std::optional<AxisValue> parsed(const std::string& text, double (*parse)(const std::string&),
                                const char* unit) {
  try {
    return AxisValue{parse(text), unit};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// The largest unit in which the largest value is at least 1.
AxisScale fitting(double largest, const std::vector<AxisScale>& scales) {
  for (const AxisScale& scale : scales)
    if (largest >= scale.divisor) return scale;
  return scales.back();
}

}  // namespace

std::string figure_text(const std::string& text) {
  std::string safe = "'";
  for (const char c : text)
    safe += c == '\'' ? std::string("''") : c == '\n' ? std::string(" ") : std::string(1, c);
  return safe + "'";
}

std::string figure_data(const std::string& title, const std::string& columns,
                        const std::vector<FigureSeries>& series) {
  std::string data = fmt::format("# {}\n", one_line(title));
  for (std::size_t i = 0; i < series.size(); ++i)
    data += fmt::format("{}# index {}: {}{}\n# {}\n{}", i ? "\n\n" : "", i, one_line(series[i].name),
                        series[i].about.empty() ? "" : ", " + series[i].about, columns, series[i].rows);
  return data;
}

std::string data_row(const std::vector<double>& numbers) {
  std::vector<std::string> cells;
  for (const double number : numbers) cells.push_back(format_number(number));
  return join(cells, " ") + "\n";
}

std::string figure_script(const std::string& name, const std::string& title, const FigureStyle& style,
                          const std::vector<std::string>& settings, const std::vector<std::string>& plots) {
  std::string script = fmt::format(
      "# {}\n"
      "# Made by longhaul plot; run it again in this folder: gnuplot {}.gp\n"
      "reset\n"
      "name = {}\n"
      "data = name.'.dat'\n"
      "formats = {}    # svg, pdf\n"
      "{}\n"
      "do for [format in formats] {{\n{}{}",
      one_line(title), name, figure_text(name), figure_text(join(style.formats, " ")),
      size_line(plots, style), kTerminals, kLook);
  const Key key(plots, style.double_column);
  script +=
      fmt::format("  set key {} samplen 1.5\n",
                  key.is_beside ? "outside right vertical maxcols 1 Left reverse" : "above Left reverse");
  if (!key.is_beside)
    script += fmt::format("  set key width (format eq 'svg' ? {:.1f} : 1.5)\n",
                          1 - 0.15 * static_cast<double>(key.longest));
  for (const std::string& setting : settings) script += "  " + setting + "\n";
  script += "  plot " + join(plots, ", \\\n       ") + "\n  unset output\n}\n";
  return script;
}

std::string figure_title(const Figure& figure) {
  const std::size_t end = figure.dat.find('\n');
  return end < 2 ? "" : figure.dat.substr(2, end - 2);  // without "# "
}

std::string axis_text(const std::string& text, double inches) {
  constexpr double kLettersAnInch = 17;
  if (static_cast<double>(width_of(text)) <= kLettersAnInch * inches) return figure_text(text);
  // Behind the blank next to the middle.
  std::size_t best = std::string::npos;
  const auto from_middle = [&](std::size_t place) {
    return place > text.size() / 2 ? place - text.size() / 2 : text.size() / 2 - place;
  };
  for (std::size_t place = text.find(' '); place != std::string::npos; place = text.find(' ', place + 1))
    if (best == std::string::npos || from_middle(place) < from_middle(best)) best = place;
  if (best == std::string::npos) return figure_text(text);
  return figure_text(text.substr(0, best)) + ".\"\\n\"." + figure_text(text.substr(best + 1));
}

std::vector<double> log_marks(double low, double high, std::size_t most) {
  constexpr double kNear = 1e-9;  // the ends count
  std::vector<double> all, powers;
  for (int power = static_cast<int>(std::floor(std::log10(low) - kNear));
       std::pow(10., power) <= high * (1 + kNear); ++power)
    for (const int digit : {1, 2, 5}) {
      const double mark = digit * std::pow(10., power);
      if (mark < low * (1 - kNear) || mark > high * (1 + kNear)) continue;
      all.push_back(mark);
      if (digit == 1) powers.push_back(mark);
    }
  if (all.size() <= most || powers.size() < 2) return all;
  const std::size_t every = (powers.size() + most - 1) / most;
  std::vector<double> some;
  for (std::size_t i = 0; i < powers.size(); i += every) some.push_back(powers[i]);
  return some;
}

std::vector<double> linear_marks(double low, double high, std::size_t most) {
  const double rough = (high - low) / static_cast<double>(most),
               power = std::pow(10., std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double digit : {5., 2., 1.})
    if (digit * power >= rough * (1 - 1e-9)) step = digit * power;
  std::vector<double> marks;
  for (double n = std::ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; ++n)
    marks.push_back(std::round(n * step * 1e9) / 1e9);
  return marks;
}

std::vector<std::string> log_axis(const std::string& axis, const std::vector<double>& values,
                                  std::size_t most) {
  constexpr double kRoom = 1.15;
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  std::vector<std::string> tics;
  for (const double mark : log_marks(*least / kRoom, *greatest * kRoom, most))
    tics.push_back(format_number(mark));
  return {"set logscale " + axis,
          fmt::format("set {}range [{:.6g}:{:.6g}]", axis, *least / kRoom, *greatest * kRoom),
          "set " + axis + "tics (" + join(tics) + ")"};
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

std::string scaled_column(int column, const AxisScale& scale) {
  return fmt::format("(${}/{})", column, format_number(scale.divisor));
}

std::optional<AxisValue> axis_value(const Json& value) {
  if (value.is_number()) return AxisValue{value.get<double>(), ""};
  if (!value.is_string()) return std::nullopt;
  const std::string text = value;
  if (const auto time = parsed(text, parse_duration, "s")) return time;
  if (const auto rate = parsed(text, parse_rate, "bit/s")) return rate;
  return parsed(text, parse_bytes, "B");
}

AxisScale axis_scale(const std::string& unit, double largest) {
  if (unit == "s" && largest >= 120) return fitting(largest / 2, {{86400, "d"}, {3600, "h"}, {60, "min"}});
  if (unit == "s") return fitting(largest, {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}});
  if (unit == "bit/s")
    return fitting(largest, {{1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}, {1, "bit/s"}});
  if (unit == "B") return fitting(largest, {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}});
  return {1, unit};
}

bool spans_decades(const std::vector<double>& values) {
  if (values.empty()) return false;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *least > 0 && *most >= kDecades * *least;
}

bool is_geometric(const std::vector<double>& values) {
  if (values.size() < 3 || values.front() <= 0) return false;
  std::vector<double> ratios, differences;
  for (std::size_t i = 1; i < values.size(); ++i) {
    ratios.push_back(std::log(values[i] / values[i - 1]));
    differences.push_back(values[i] - values[i - 1]);
  }
  const auto unevenness = [](const std::vector<double>& steps) {
    const auto [least, most] = std::minmax_element(steps.begin(), steps.end());
    return *most / *least;
  };
  return unevenness(ratios) < unevenness(differences);
}

std::string axis_words(const std::string& path) {
  const std::size_t dot = std::min(path.find('.'), path.size());
  std::string words = path.substr(0, dot);
  if (words.size() > 2 && words.compare(words.size() - 2, 2, "_s") == 0) words.erase(words.size() - 2);
  if (dot < path.size()) words += ", " + path.substr(dot + 1);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string axis_title(const std::string& what, const std::string& unit) {
  return unit.empty() ? what : fmt::format("{} ({})", what, unit);
}

}  // namespace longhaul
