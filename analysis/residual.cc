#include "analysis/residual.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace longhaul {

namespace {

std::string loss_setting(const TcpSpec& tcp) {
  if (tcp.loss <= 0) return "";
  if (tcp.connections > 1) return "+loss+connections";
  return tcp.loss > kMostMeasuredLoss ? "+high-loss" : "+loss";
}

}  // namespace

std::string queue_setting(const TcpSpec& tcp) {
  const bool has_other_trunks = tcp.trunk_queue != "same" && tcp.trunk_queue != tcp.queue;
  return tcp.queue + (tcp.ecn ? "+ecn" : "") + loss_setting(tcp) +
         (has_other_trunks ? "+trunk-" + tcp.trunk_queue : "");
}

double network_residual(const Json& record) {
  if (record.value("fidelity", "") != "flow" || record.contains("message_time_s")) return 0;
  // results/reference/residuals: single flows, collectives and trunks together. What was not
  // measured decides nothing: it widens an interval to everything.
  static const std::map<std::string, double> measured = {
      {"host", 0.07}, {"fq_codel+ecn", 0.15}, {"host+loss", 0.18}};
  const auto found = measured.find(record.value("queue", "host"));
  return found == measured.end() ? 1 : found->second;
}

Interval widened(const Interval& measured, double residual, bool is_ratio) {
  const double down = is_ratio ? (1 - residual) / (1 + residual) : 1 - residual,
               up = is_ratio ? (1 + residual) / (1 - residual) : 1 + residual;
  return {std::min(measured.low * down, measured.low * up),
          std::max(measured.high * up, measured.high * down)};
}

OverSeeds over_seeds_of(const std::vector<double>& values, double residual, bool is_ratio) {
  const Interval interval = t_interval(values, 0.95);
  return {mean(values), interval, widened(interval, residual, is_ratio)};
}

std::string residual_in_words(double residual, const std::string& low, const std::string& high) {
  if (residual >= 1) return "the network model's error is not known for this queue or loss";
  return fmt::format("the network model's {} % make that {} to {}", std::lround(100 * residual), low, high);
}

}  // namespace longhaul
