#include "analysis/comparison/budget_loss.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/comparison/equal_budget.h"
#include "analysis/record_values.h"
#include "analysis/residual.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/json.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

const std::string kPrefix = "loss@";

struct Parsed {
  std::string path;
  Budget kind = Budget::kSeconds;
  double budget = 0;
};

Parsed parsed(const std::string& metric) {
  const std::string text = metric.substr(kPrefix.size());
  for (const Budget kind : {Budget::kSeconds, Budget::kBytes}) try {
      return {metric, kind, kind == Budget::kSeconds ? parse_duration(text) : parse_bytes(text)};
    } catch (const InputError&) {
      // The other kind of budget, or none.
    }
  throw InputError("--metric", fmt::format("found \"{}\"", metric),
                   "loss@ and a simulated time or the bytes that a replica sends, as loss@10min, loss@5GB");
}

// The cases of one label that have no loss within a budget.
struct Without {
  int cases = 0, untrained = 0;
  std::optional<double> earliest;  // budget at the first evaluation of one of them

  void add(const LossCurve& curve, Budget kind) {
    ++cases;
    if (curve.empty()) {
      ++untrained;
      return;
    }
    const double first = curve.start(kind);
    earliest = earliest ? std::min(*earliest, first) : first;
  }

  // "ddp has none in 3 cases, first evaluated after 8 min 20 s", "ddp trained nothing".
  std::string in_words(const std::string& label, Budget kind) const {
    if (untrained == cases) return label + " trained nothing";
    return fmt::format("{} had not been evaluated by then in {}, the first time was {}", label,
                       counted(static_cast<std::size_t>(cases), "case"),
                       kind == Budget::kSeconds ? "after " + human_duration(*earliest)
                                                : "at " + human_bytes(*earliest) + " sent");
  }
};

// What it may be where the clock is off by the network model's error: what was reached at a simulated time t
// is reached between t (1 − residual) and t (1 + residual).
void add_possible_loss(const LossCurve& curve, const Parsed& wanted, double loss, Json& record) {
  const double residual = record.contains("fidelity") ? network_residual(record) : 0;
  if (wanted.kind != Budget::kSeconds || residual == 0 || residual >= 1) return;
  const double early = curve.within(wanted.kind, wanted.budget / (1 + residual)).value_or(curve.first_loss()),
               late = curve.within(wanted.kind, wanted.budget / (1 - residual)).value_or(loss);
  record["possible"][wanted.path] = {std::min({loss, early, late}), std::max({loss, early, late})};
}

}  // namespace

std::vector<std::string> add_budget_losses(const std::vector<std::string>& metrics,
                                           std::vector<RunDirectory>& runs) {
  std::vector<std::string> notes;
  for (const std::string& metric : metrics) {
    if (metric.rfind(kPrefix, 0) != 0) continue;
    const Parsed wanted = parsed(metric);
    std::map<std::string, Without> without;  // by label
    bool any = false;
    for (RunDirectory& run : runs)
      for (Json& record : run.records) {
        if (record.value("status", "") != "done") continue;
        const LossCurve curve = LossCurve::of_case(run.case_folder(record));
        const auto loss = curve.within(wanted.kind, wanted.budget);
        any = any || loss;
        if (loss) {
          put_at(record, wanted.path, *loss);
          add_possible_loss(curve, wanted, *loss, record);
        } else {
          without[plain(record.value("label", Json("?")))].add(curve, wanted.kind);
        }
      }
    std::vector<std::string> reasons;
    for (const auto& [label, cases] : without) reasons.push_back(cases.in_words(label, wanted.kind));
    if (!any && !reasons.empty())
      throw InputError("--metric", fmt::format("no case has {}: {}", metric, join(reasons, "; ")),
                       "a budget that reaches an evaluation of a case that trains (train.evaluate_every)");
    for (const std::string& reason : reasons) notes.push_back(fmt::format("{}: {}.", metric, reason));
  }
  return notes;
}

}  // namespace longhaul
