#include "validation/grid/residual_tables.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>

#include "core/base/units.h"

namespace longhaul {
namespace {

using Residual = double (Entry::*)() const;
// Where a row stands in its table, and what it is called.
using Label = std::pair<double, std::string>;

std::string format(const char* pattern, ...) {
  char text[512];
  va_list values;
  va_start(values, pattern);
  std::vsnprintf(text, sizeof text, pattern, values);
  va_end(values);
  return text;
}

std::vector<double> residuals(const std::vector<Entry>& entries, Residual residual) {
  std::vector<double> values;
  for (const Entry& entry : entries) values.push_back((entry.*residual)());
  return values;
}

std::string cells(const Spread& spread) {
  return format(" %.1f | %.1f | %.1f | %+.1f |", 100 * spread.median, 100 * spread.p95, 100 * spread.largest,
                100 * spread.mean_signed);
}

bool has_simgrid(const std::vector<Entry>& entries) {
  return std::all_of(entries.begin(), entries.end(), [](const Entry& entry) { return entry.simgrid_s > 0; });
}

// Sets in the order of their first entry.
std::vector<std::pair<std::string, std::vector<Entry>>> by_set(const std::vector<Entry>& entries) {
  std::vector<std::pair<std::string, std::vector<Entry>>> sets;
  for (const Entry& entry : entries) {
    const auto known =
        std::find_if(sets.begin(), sets.end(), [&](const auto& s) { return s.first == entry.grid_case.set; });
    if (known != sets.end())
      known->second.push_back(entry);
    else
      sets.push_back({entry.grid_case.set, {entry}});
  }
  return sets;
}

Label kind_of(const Entry& entry) {
  const GridCase& grid_case = entry.grid_case;
  if (grid_case.trunk > 0)
    return {grid_case.kind == "pair" ? 3 : 2,
            grid_case.kind == "pair" ? "trunk, both directions" : "trunk, one direction"};
  if (grid_case.kind == "single") return {0, "single flow, one direction"};
  if (grid_case.kind == "pair") return {1, "pair, both directions"};
  return {4, grid_case.kind};
}
Label exchange_of(const Entry& entry) {
  if (entry.is_cold) return {0, "cold"};
  return entry.grid_case.gap_s > 0 ? Label{2, "again after 1 s"} : Label{1, "again at once"};
}
Label size_of(const Entry& entry) {
  const double products = entry.grid_case.products;
  if (products < 1) return {-1, "up to 1 product"};
  if (products < 2) return {0, "1 to 2 products"};
  if (products < 5) return {1, "2 to 5 products"};
  if (products < 20) return {2, "5 to 20 products"};
  return products < 60 ? Label{3, "20 to 60 products"} : Label{4, "60 to 200 products"};
}
Label windows_of(const Entry& entry) {
  const double windows = entry.grid_case.windows();
  if (windows < 1) return {0, windows > 0 ? "less than a window" : "windows unlimited"};
  return windows < 4 ? Label{1, "1 to 4 windows"} : Label{2, "4 to 20 windows"};
}
Label rtt_of(const Entry& entry) {
  return {entry.grid_case.rtt_s, human_duration(entry.grid_case.rtt_s)};
}
Label rate_of(const Entry& entry) {
  const double rate =
      entry.grid_case.trunk > 0 ? entry.grid_case.trunk : std::min(entry.grid_case.up, entry.grid_case.down);
  return {rate, format("%g Mb/s", rate / 1e6)};
}
Label connections_of(const Entry& entry) {
  const int k = entry.grid_case.connections;
  return {k, format(k == 1 ? "%d connection" : "%d connections", k)};
}
Label replicas_of(const Entry& entry) {
  return {entry.grid_case.replicas, format("%d replicas", entry.grid_case.replicas)};
}
Label segment_of(const Entry& entry) {
  return {entry.grid_case.segment, format("segments of %d", entry.grid_case.segment)};
}
Label loss_of(const Entry& entry) {
  return {entry.grid_case.loss, format("loss %g", entry.grid_case.loss)};
}
Label queue_of(const Entry& entry) {
  return {entry.grid_case.queue_products, format("queue of %g products", entry.grid_case.queue_products)};
}
Label rtts_of(const Entry& entry) {
  return {entry.grid_case.rtt_ratio,
          entry.grid_case.rtt_ratio == 1 ? "equal RTTs" : format("RTTs 1 : %g", entry.grid_case.rtt_ratio)};
}
Label asymmetry_of(const Entry& entry) {
  const double ratio = entry.grid_case.down / entry.grid_case.up;
  return {ratio, ratio > 1 ? format("up : down 1 : %g", ratio) : format("up : down %g : 1", 1 / ratio)};
}

std::string axis_rows(const std::vector<Entry>& entries, const std::function<Label(const Entry&)>& label) {
  std::map<Label, std::vector<Entry>> parts;
  for (const Entry& entry : entries) parts[label(entry)].push_back(entry);
  std::string text;
  for (const auto& [name, part] : parts) {
    if (parts.size() == 1) break;
    text += "| " + name.second + format(" | %zu |", part.size()) +
            cells(spread_of(residuals(part, &Entry::flow)));
    text += format(" %.1f |", 100 * spread_of(residuals(part, &Entry::naive)).median);
    text += has_simgrid(part) ? format(" %.1f |\n", 100 * spread_of(residuals(part, &Entry::simgrid)).median)
                              : " |\n";
  }
  return text;
}

std::vector<Entry> half_of(const std::vector<Entry>& entries, bool is_judge) {
  std::vector<Entry> half;
  for (const Entry& entry : entries)
    if (entry.grid_case.is_judge() == is_judge) half.push_back(entry);
  return half;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  Spread spread;
  spread.count = values.size();
  if (values.empty()) return spread;
  for (double& value : values) {
    spread.mean_signed += value / static_cast<double>(values.size());
    value = std::abs(value);
  }
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
  };
  spread.median = at(0.5);
  spread.p95 = at(0.95);
  spread.largest = at(1);
  return spread;
}

std::string settings_table(const std::vector<Entry>& entries) {
  std::string text =
      "| set | half | exchanges | flow: median % | 95th % | largest % | mean, signed % | naive: median % | "
      "95th % | "
      "largest % | mean, signed % | SimGrid: median % | 95th % | largest % | mean, signed % |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [name, all] : by_set(entries))
    for (const bool is_judge : {false, true}) {
      const std::vector<Entry> half = half_of(all, is_judge);
      if (half.empty()) continue;
      text += "| " + name + (is_judge ? " | judge" : " | train") + format(" | %zu |", half.size());
      text +=
          cells(spread_of(residuals(half, &Entry::flow))) + cells(spread_of(residuals(half, &Entry::naive)));
      text += (has_simgrid(half) ? cells(spread_of(residuals(half, &Entry::simgrid))) : " | | | |") + "\n";
    }
  return text;
}

std::string axes_table(const std::vector<Entry>& entries) {
  std::string text =
      "| | exchanges | flow: median % | 95th % | largest % | mean, signed % | naive: median % | SimGrid: "
      "median % |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const auto& axis : {kind_of, exchange_of, size_of, windows_of, rtt_of, rate_of, connections_of,
                           replicas_of, queue_of, loss_of, rtts_of, asymmetry_of, segment_of})
    text += axis_rows(entries, axis);
  return text;
}

std::string worst_table(std::vector<Entry> entries, std::size_t count) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return std::abs(a.flow()) > std::abs(b.flow()); });
  std::string text;
  for (std::size_t i = 0; i < std::min(count, entries.size()); ++i) {
    const Entry& entry = entries[i];
    const GridCase& grid_case = entry.grid_case;
    text += format(
        "%s %d: %s of %d, %s, %s, %.2f products, %d conn., segment %d, queue %g, loss %g, rtts 1 : %g, %s: "
        "packet %.4f s, flow %.4f s (%+.1f %%), naive %+.1f %%\n",
        grid_case.set.c_str(), grid_case.number, grid_case.kind.c_str(), grid_case.replicas,
        rate_of(entry).second.c_str(), rtt_of(entry).second.c_str(), grid_case.products,
        grid_case.connections, grid_case.segment, grid_case.queue_products, grid_case.loss,
        grid_case.rtt_ratio, exchange_of(entry).second.c_str(), entry.packet_s, entry.flow_s,
        100 * entry.flow(), 100 * entry.naive());
  }
  return text;
}

void write_figure_data(const std::vector<Entry>& entries, const std::string& file) {
  std::ofstream out(file);
  for (const auto& [name, all] : by_set(half_of(entries, true))) {
    out << "# " << name << ":\n";
    std::vector<std::vector<double>> columns;
    for (const Residual residual : {&Entry::flow, &Entry::naive, &Entry::simgrid}) {
      columns.push_back(residuals(all, residual));
      std::sort(columns.back().begin(), columns.back().end());
    }
    for (std::size_t i = 0; i < all.size(); ++i)
      out << format("%.4f %.2f %.2f %.2f\n", (static_cast<double>(i) + 0.5) / static_cast<double>(all.size()),
                    100 * columns[0][i], 100 * columns[1][i], 100 * columns[2][i]);
    out << "\n\n";
  }
}

}  // namespace longhaul
