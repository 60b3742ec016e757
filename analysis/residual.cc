#include "analysis/residual.h"

namespace longhaul {
namespace {

// docs/model.md, "The validation grid": single flows, collectives and trunks together. What
// was not measured decides nothing: it widens an interval to everything.
double flow_residual(const std::string& setting) {
  return setting == "host" ? 0.08 : 1;
}

}  // namespace

std::string queue_setting(const TcpSpec& tcp) {
  return tcp.queue + (tcp.ecn ? "+ecn" : "") + (tcp.loss > 0 ? "+loss" : "");
}

double network_residual(const Json& record) {
  if (record.at("fidelity") != "flow" || record.contains("message_time_s")) return 0;
  return flow_residual(record.value("queue", "host"));
}

bool depends_on_network_time(const std::string& metric) {
  for (const char* key :
       {"sync_time_s", "exchange_time_s", "simulated_time_s", "time_to_target_s", "idle_fraction"})
    if (metric.rfind(key, 0) == 0) return true;
  return false;
}

}  // namespace longhaul
