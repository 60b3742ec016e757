// Replicas that crash and come back, and exchanges that break: steps of 1 s on a mesh on which
// messages take no time, and what the tests read in the tables.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "tests/support/faults.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul {

using OnFailure = RecoverySpec::OnFailure;

inline Fault crash_of(int replica, double at_s, double for_s) {
  return absence_fault(0, {replica, replica}, {at_s, 0, for_s});
}

// Replica 0 crashes at `at_s` and is back `for_s` later; the others know of it after 0.25 s.
inline Case with_crash(int replicas, int steps, OnFailure on_failure, double at_s, double for_s) {
  Case config = drawn_case(replicas, 0, 0, false);
  config.workload.steps = steps;
  config.faults = {crash_of(0, at_s, for_s)};
  config.recovery.on_failure = on_failure;
  config.recovery.detect_s = 0.25;
  return config;
}

inline OperationRule gradients() {
  OperationRule rule = rule_of("ring");
  rule.payload = whole({"gradient"}, Wire::kInt8);
  rule.before_optimizer = true;
  return rule;
}

inline OperationRule weights_in_pairs() {
  OperationRule rule = rule_of("pair", 1, 2);
  rule.kind = OperationKind::kGroupAverage;
  rule.payload = whole({"weights"}, Wire::kInt8);
  return rule;
}

// A state of 1000 parameters of 12 bytes, on links of 9600 bytes a second; operations of `rule` carry a byte.
inline void prepare_download(Case& config, OperationRule& rule) {
  config.network.message_time.reset();
  config.network.topology = mesh_spec(76800 * 1538. / 1448, 0);  // with Ethernet's framing
  config.workload.parameters = 1000;
  rule.payload[0].columns = {{0, 1}};
}

// By step, of the schedule: of all rules, or of one.
inline std::map<int, std::vector<int>> groups_of_steps(const Replayed& replayed, int rule = -1) {
  std::map<int, std::vector<int>> groups;
  for (const Json& line : schedule_of(replayed))
    if (rule < 0 || line.at("rule") == rule)
      groups[line.at("step")] = line.at("group").get<std::vector<int>>();
  return groups;
}

}  // namespace longhaul
