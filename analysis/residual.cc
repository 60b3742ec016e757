#include "analysis/residual.h"

namespace longhaul {

double network_residual(const Json& record) {
  return record.at("fidelity") == "flow" && !record.contains("message_time_s") ? 0.05 : 0;
}

bool depends_on_network_time(const std::string& metric) {
  for (const char* key :
       {"sync_time_s", "exchange_time_s", "simulated_time_s", "time_to_target_s", "idle_fraction"})
    if (metric.rfind(key, 0) == 0) return true;
  return false;
}

}  // namespace longhaul
