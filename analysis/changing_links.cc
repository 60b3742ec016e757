#include "analysis/changing_links.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/base/ranges.h"
#include "net/variation/link_trace.h"

namespace longhaul {
namespace {

// What of a network changes.
struct Changes {
  bool has_rates = false, has_delays = false, has_outages = false;
};

Changes changes_of(const VariationSpec& variation) {
  Changes changes;
  for (const Fault& fault : variation.faults) {
    changes.has_rates = changes.has_rates || (fault.rate > 0 && fault.rate != 1);
    changes.has_delays = changes.has_delays || fault.delay != 1;
    changes.has_outages = changes.has_outages || fault.rate == 0;
  }
  for (const TraceSpec& spec : variation.traces) {
    const LinkTrace trace = read_link_trace(spec, "network.variation.traces");
    const bool is_off = any_of(trace.rows(), [](const LinkTrace::Row& row) { return row.rate == 0.; });
    double least = 0, most = 0;  // of the rates that carry something
    for (const LinkTrace::Row& row : trace.rows())
      if (row.rate.value_or(0) > 0) {
        least = least == 0 ? *row.rate : std::min(least, *row.rate);
        most = std::max(most, *row.rate);
      }
    changes.has_rates = changes.has_rates || least < most;
    changes.has_delays = changes.has_delays || trace.has_delays();
    changes.has_outages = changes.has_outages || is_off;
  }
  return changes;
}

struct Measured {
  const char* words;
  double flow, packet, linux;  // 1: not measured, or refused
};
constexpr Measured kRates = {"rates that change", 0.09, 0.17, 0},
                   kDelays = {"delays that change", 0.16, 0.37, 0}, kOutages = {"outages", 0.18, 1, 0.18},
                   kLittleRateJitter = {"jitter of rates", 0.07, 0.06, 0},
                   kRateJitter = {"jitter of rates", 0.23, 0.14, 0},
                   kDelayJitter = {"jitter of delays", 0.06, 1, 0},
                   kFlowsAtTimes = {"flows of others that come and go", 0.23, 1, 0},
                   kOthers = {"traffic of others", 0.02, 1, 0};
constexpr double kLittleSigma = 0.2, kMostRateSigma = 0.5, kMostDelaySigma = 0.3;

}  // namespace

double together(double residual, double other) {
  return residual >= 1 || other >= 1 ? 1 : std::min(1., std::hypot(residual, other));
}

ChangingLinks changing_links(const NetworkSpec& network) {
  const VariationSpec& variation = network.variation;
  ChangingLinks found;
  const auto add = [&](bool is_there, const Measured& measured) {
    if (!is_there) return;
    const double residual = network.fidelity == "flow"     ? measured.flow
                            : network.fidelity == "packet" ? measured.packet
                                                           : measured.linux;
    found.residual = together(found.residual, residual);
    if (residual > 0) found.kinds.emplace_back(measured.words);
  };
  const Changes changes = changes_of(variation);
  add(changes.has_rates, kRates);
  add(changes.has_delays, kDelays);
  add(changes.has_outages, kOutages);
  const JitterSpec& jitter = variation.jitter;
  add(jitter.rate_sigma > 0, jitter.rate_sigma > kLittleSigma ? kRateJitter : kLittleRateJitter);
  add(jitter.delay_sigma > 0, kDelayJitter);
  const bool has_flows_at_times =
      any_of(variation.background, [](const BackgroundSpec& others) { return others.flows && others.off_s; });
  add(!variation.background.empty(), has_flows_at_times ? kFlowsAtTimes : kOthers);
  const auto note = [&](double sigma, double most, const char* key) {
    if (sigma > most) found.outside.push_back(fmt::format("{} {:g} (to {:g})", key, sigma, most));
  };
  note(jitter.rate_sigma, kMostRateSigma, "rate_sigma");
  note(jitter.delay_sigma, kMostDelaySigma, "delay_sigma");
  return found;
}

}  // namespace longhaul
