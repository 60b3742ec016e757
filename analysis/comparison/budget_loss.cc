#include "analysis/comparison/budget_loss.h"

#include <fmt/core.h>

#include "analysis/comparison/loss_curve.h"
#include "core/errors.h"
#include "core/units.h"

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

// Where value_at() finds it: a dot in a number is one of the path.
void put(Json& record, const std::string& path, const Json& value) {
  Json* at = &record;
  std::size_t start = 0;
  for (std::size_t dot; (dot = path.find('.', start)) != std::string::npos; start = dot + 1)
    at = &(*at)[path.substr(start, dot - start)];
  (*at)[path.substr(start)] = value;
}

}  // namespace

bool is_budget_loss(const std::string& metric) {
  return metric.rfind(kPrefix, 0) == 0;
}

void add_budget_losses(const std::vector<std::string>& metrics, std::vector<RunDirectory>& runs) {
  for (const std::string& metric : metrics) {
    if (!is_budget_loss(metric)) continue;
    const Parsed wanted = parsed(metric);
    for (RunDirectory& run : runs)
      for (Json& record : run.records)
        if (record.value("status", "") == "done")
          if (const auto loss =
                  LossCurve::of_case(run.case_folder(record)).within(wanted.kind, wanted.budget))
            put(record, wanted.path, *loss);
  }
}

}  // namespace longhaul
