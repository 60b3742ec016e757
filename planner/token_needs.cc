#include "planner/token_needs.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analysis/runs/run_directory.h"
#include "core/base/csv.h"
#include "core/base/errors.h"
#include "planner/plan_request.h"

namespace longhaul {
namespace {

// Of the rows `mean` of a case's metrics; `tokens`: those of the whole training.
std::vector<std::pair<double, double>> curve_points(const std::string& file, double tokens) {
  std::vector<std::pair<double, double>> points;
  double last = 0;
  for (CsvStream rows(file, {"step", "replica", "loss"}); rows.next();) {
    if (rows.text(1) != "mean") continue;
    last = static_cast<double>(rows.step(0));
    points.emplace_back(last, rows.number(2));
  }
  for (auto& [step, loss] : points) step *= last > 0 ? tokens / last : 0;
  return points;
}

struct Reached {
  double tokens = 0;
  int cases = 0, never = 0;
};

std::map<std::string, Reached> reached_in(const LossTarget& target) {
  std::map<std::string, Reached> reached;
  for (const std::string& run : target.runs) {
    const Json summary = read_summary(run);
    for (const Json& record : summary.at("cases")) {
      if (record.value("status", "") != "done" || !record.contains("tokens")) continue;
      const std::string folder = run + "/cases/" + record.at("case").get<std::string>();
      const double tokens =
          tokens_to(target.loss, curve_points(folder + "/metrics.csv", record["tokens"].get<double>()));
      Reached& method = reached[record.at("method").get<std::string>()];
      if (tokens > 0) {
        method.tokens += tokens;
        ++method.cases;
      } else {
        ++method.never;
      }
    }
  }
  return reached;
}

}  // namespace

double tokens_to(double loss, const std::vector<std::pair<double, double>>& points) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto [tokens, now] = points[i];
    if (now > loss) continue;
    if (i == 0) return tokens;
    const auto [tokens_before, before] = points[i - 1];
    return tokens_before + (tokens - tokens_before) * (before - loss) / (before - now);
  }
  return 0;
}

TokenNeeds token_needs(const PlanRequest& plan, const std::vector<std::string>& methods) {
  TokenNeeds needs;
  if (!plan.target) {
    for (const std::string& method : methods) needs.of_method[method] = *plan.tokens;
    return needs;
  }
  std::map<std::string, Reached> reached;
  try {
    reached = reached_in(*plan.target);
  } catch (const RunError& error) {
    throw InputError("target.runs", error.what(), "run directories of longhaul run with trainings");
  }
  for (const std::string& method : methods) {
    const auto found = reached.find(method);
    if (found == reached.end())
      needs.notes.push_back(fmt::format("{} is left out: the runs have no curve of it", method));
    else if (found->second.cases == 0 || found->second.never > 0)
      needs.notes.push_back(
          fmt::format("{} is left out: it did not get to a loss of {} in {} of {} trainings", method,
                      plan.target->loss, found->second.never, found->second.never + found->second.cases));
    else
      needs.of_curves[method] = found->second.tokens / found->second.cases;
  }
  if (needs.of_curves.empty())
    throw InputError("target.loss", fmt::format("found {}", plan.target->loss),
                     "a loss that a candidate method reached in these runs",
                     needs.notes.empty() ? "" : needs.notes.front());
  double fewest = needs.of_curves.begin()->second;
  for (const auto& [method, tokens] : needs.of_curves) fewest = std::min(fewest, tokens);
  const double scale = plan.tokens ? static_cast<double>(*plan.tokens) / fewest : 1;
  for (const auto& [method, tokens] : needs.of_curves)
    needs.of_method[method] = std::max<std::int64_t>(1, std::llround(tokens * scale));
  return needs;
}

}  // namespace longhaul
