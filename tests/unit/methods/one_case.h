// The only case of a scenario with one method, without a file; on a star where it has no network.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "core/scenario/case.h"
#include "core/scenario/scenario_options.h"
#include "methods/common/registry.h"
#include "tests/unit/core/stub_topology.h"

namespace longhaul {

inline Case one_case(Json scenario) {
  if (!scenario.contains("network"))
    scenario["network"] = {{"topology", {{"star", {{"rate", "1Gbps"}, {"rtt", "50ms"}}}}}};
  Json resolved = resolve(scenario_options(method_options(), stub_topologies()), scenario, "");
  Json chosen = resolved["methods"][0];
  chosen["label"] = chosen.value("label", chosen["name"].get<std::string>());
  resolved.erase("methods");
  resolved["method"] = chosen;
  for (const char* key : {"case", "scenario"}) resolved[key] = "test";
  resolved["folder"] = ".";
  resolved["swept"] = Json::object();
  return parse_case(resolved);
}

// What its method warns of, one thing at most; "": of nothing.
inline std::string warning_of(const Case& config) {
  const std::vector<std::string> warnings = method_named(config.method.name).warnings(config);
  if (warnings.size() > 1) throw std::logic_error("several warnings");
  return warnings.empty() ? "" : warnings[0];
}

}  // namespace longhaul
