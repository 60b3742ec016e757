#include "planner/plan_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analysis/text.h"
#include "core/base/units.h"
#include "planner/evaluation.h"
#include "planner/faulty_times.h"
#include "planner/plan_request.h"
#include "planner/plan_result.h"
#include "planner/plan_text.h"
#include "planner/search.h"
#include "planner/site_shares.h"

namespace longhaul {
namespace {

using Column = TextColumn;

constexpr std::size_t kTableRows = 16;

// A unit, and the least amount that is said in it.
struct Unit {
  double size;
  const char* name;
  double least;
};
constexpr Unit kTimeUnits[] = {{365.25 * 86400, "years", 2 * 365.25 * 86400},
                               {86400, "d", 2 * 86400.},
                               {3600, "h", 7200},
                               {60, "min", 120},
                               {1, "s", 0}};
constexpr Unit kByteUnits[] = {{1e15, "PB", 1e15}, {1e12, "TB", 1e12}, {1e9, "GB", 1e9}, {1e6, "MB", 0}};

// Columns in one unit, that of the first amount, in which the least amount has so many digits.
template <std::size_t kCount>
void fill_in_one_unit(const Unit (&units)[kCount], const std::vector<std::vector<double>>& amounts,
                      int digits, const std::vector<Column*>& columns) {
  const Unit& unit = *std::find_if(std::begin(units), std::end(units),
                                   [&](const Unit& candidate) { return amounts[0][0] >= candidate.least; });
  double least = amounts[0][0];
  for (const std::vector<double>& column : amounts)
    for (const double amount : column)
      if (amount > 0) least = std::min(least, amount);
  const int decimals =
      least > 0 ? std::clamp(digits - 1 - static_cast<int>(std::floor(std::log10(least / unit.size))), 0, 3)
                : 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i]->heading += std::string(", ") + unit.name;
    for (const double amount : amounts[i])
      columns[i]->cells.push_back(fmt::format("{:.{}f}", amount / unit.size, decimals));
  }
}

// Money: cents in all cells of a column or in none.
std::vector<std::string> money_cells(const std::vector<double>& amounts) {
  const double most = *std::max_element(amounts.begin(), amounts.end());
  return each_of(amounts, [&](double amount) {
    return most >= 100 ? human_amount(std::round(amount)) : fmt::format("{:.2f}", amount);
  });
}

// Those of plans, with a unit in the heading: time with its range, share of computing, money, bytes.
std::vector<Column> figures_of(const PlanRequest& plan, const std::vector<const Evaluation*>& plans) {
  Column time{"time", {}}, low{"low", {}}, high{"high", {}}, computes{"computes, %", {}},
      cost{"cost, " + plan.currency, {}}, leaving{"leaves sites", {}};
  std::vector<std::vector<double>> seconds(3), bytes(1);
  std::vector<double> costs;
  for (const Evaluation* evaluation : plans) {
    seconds[0].push_back(evaluation->total_s());
    seconds[1].push_back(evaluation->low_s());
    seconds[2].push_back(evaluation->high_s());
    bytes[0].push_back(evaluation->bytes());
    computes.cells.push_back(fmt::format("{:.0f}", 100 * evaluation->utilization));
    costs.push_back(evaluation->cost());
  }
  fill_in_one_unit(kTimeUnits, seconds, 4, {&time, &low, &high});
  fill_in_one_unit(kByteUnits, bytes, 3, {&leaving});
  cost.cells = money_cells(costs);
  std::vector<Column> columns = {time, low, high, computes};
  if (has_prices(plan)) columns.push_back(cost);
  columns.push_back(leaving);
  return columns;
}

}  // namespace

std::string plans_table(const PlanRequest& plan, const SearchResult& search) {
  std::vector<const Evaluation*> plans;
  Column state{"", {}, true}, words{"plan", {}, true}, left_out{"", {}, true};
  for (std::size_t i = 0; i < std::min(search.evaluations.size(), kTableRows); ++i) {
    const Evaluation& evaluation = search.evaluations[i];
    plans.push_back(&evaluation);
    state.cells.push_back(i == 0 ? "take" : i < search.front ? "front" : "");
    words.cells.push_back(evaluation.candidate.words);
    left_out.cells.push_back(evaluation.left_out);
  }
  std::vector<Column> columns = figures_of(plan, plans);
  columns.insert(columns.begin(), {state, words});
  columns.push_back(left_out);
  std::string text = aligned_columns(columns, "  ");
  if (search.evaluations.size() > kTableRows)
    text += fmt::format("  and {} more in plan.json\n", search.evaluations.size() - kTableRows);
  return text;
}

std::string inner_steps_table(const PlanRequest& plan, const SearchResult& search) {
  std::vector<const Evaluation*> plans;
  Column inner_steps{"H", {}}, state{"", {}, true};
  for (const Evaluation& evaluation : search.of_choice) {
    plans.push_back(&evaluation);
    inner_steps.cells.push_back(std::to_string(evaluation.candidate.inner_steps));
    state.cells.push_back(evaluation.candidate.words == search.evaluations.front().candidate.words ? "taken"
                                                                                                   : "");
  }
  std::vector<Column> columns = figures_of(plan, plans);
  columns.insert(columns.begin(), inner_steps);
  columns.push_back(state);
  return aligned_columns(columns, "  ");
}

std::string sites_table(const PlanRequest& plan, const PlanResult& result) {
  const Evaluation& choice = result.choice();
  Column name{"site", {}, true}, nodes{"nodes", {}}, accelerators{"accelerators", {}, true},
      tokens{"tokens a step", {}}, step{"a step, s", {}}, computes{"computes, %", {}},
      rent{"rent, " + plan.currency, {}}, egress{"egress, " + plan.currency, {}},
      time{"without it: time", {}}, cost{"cost, " + plan.currency, {}}, why_not{"", {}, true};
  std::vector<std::vector<double>> seconds(1);
  for (const SiteShare& site : result.sites) {
    name.cells.push_back(site.name);
    nodes.cells.push_back(std::to_string(site.nodes));
    accelerators.cells.push_back(
        fmt::format("{}{}", site.accelerators, site.accelerator.empty() ? "" : " " + site.accelerator));
    tokens.cells.push_back(fmt::format("{:.0f}", site.tokens));
    step.cells.push_back(fmt::format("{:.4g}", site.step_s));
    computes.cells.push_back(fmt::format("{:.0f}", 100 * site.computes));
    rent.cells.push_back(human_amount(site.rent));
    egress.cells.push_back(human_amount(site.egress_cost));
    seconds[0].push_back(site.without ? site.without->total_s() : choice.total_s());
    cost.cells.push_back(site.without ? human_amount(site.without->cost()) : "-");
    why_not.cells.push_back(site.why_not);
  }
  fill_in_one_unit(kTimeUnits, seconds, 4, {&time});
  for (std::size_t i = 0; i < result.sites.size(); ++i)
    if (!result.sites[i].without) time.cells[i] = "-";
  std::vector<Column> columns = {name, nodes, accelerators};
  if (!choice.node_tokens.empty()) columns.push_back(tokens);
  columns.insert(columns.end(), {step, computes});
  if (has_prices(plan)) columns.insert(columns.end(), {rent, egress});
  columns.push_back(time);
  if (has_prices(plan)) columns.push_back(cost);
  columns.push_back(why_not);
  return aligned_columns(columns, "  ");
}

std::string faults_table(const PlanResult& result) {
  Column words{"plan", {}, true}, time{"time", {}}, low{"low", {}}, high{"high", {}},
      without{"without faults", {}}, goodput{"goodput, %", {}};
  std::vector<std::vector<double>> seconds(4);
  for (const FaultyTime& faulty : result.faulty) {
    const TimeRange range = faulty.time();
    words.cells.push_back(faulty.words);
    seconds[0].push_back(range.mean_s);
    seconds[1].push_back(range.low_s);
    seconds[2].push_back(range.high_s);
    seconds[3].push_back(faulty.without.mean_s);
    goodput.cells.push_back(fmt::format("{:.1f}", 100 * faulty.goodput()));
  }
  fill_in_one_unit(kTimeUnits, seconds, 4, {&time, &low, &high, &without});
  return fmt::format("with the plan's faults, drawn {} times for {}:\n", result.faulty.front().draws,
                     human_duration(result.faulty.front().drawn_s)) +
         aligned_columns({words, time, low, high, without, goodput}, "  ");
}

}  // namespace longhaul
