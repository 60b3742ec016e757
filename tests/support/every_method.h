// A short run of every method that the product has, for the tests that hold for all of them: on a model of
// two layers and four or eight replicas. A test of tests/unit/methods holds that none is missing.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace longhaul {

// With an outer step after each `inner_steps` steps where they have one, and overlaps of at most two steps.
inline std::vector<Json> every_method(int inner_steps, const std::set<std::string>& without = {}) {
  const int overlap = std::min(2, inner_steps - 1);
  Json all = Json::parse(R"([[
      {"name": "ddp"}, {"name": "fsdp"}, {"name": "independent"}, {"name": "single"},
      {"name": "one-bit-adam", "freeze_step": 5},
      {"name": "demo", "codec": {"dct_top_k": {"tile": 8, "kept": 4}}, "mean_of": "all"},
      {"name": "dgc", "warm_up": 4, "codec": {"top_k": {"chunk": 64, "kept": 2}}},
      {"name": "sparta", "share": 0.2}], [
      {"name": "diloco"}, {"name": "diloco", "nesterov": false}, {"name": "muloco"},
      {"name": "delayed-nesterov", "momentum_every": 2},
      {"name": "noloco"}, {"name": "noloco", "pattern": "presend"}, {"name": "noloco", "pattern": "root"},
      {"name": "noloco", "group_size": 4},
      {"name": "local-sgd"},
      {"name": "ravnest", "stages": 2}, {"name": "ravnest", "delay": 3},
      {"name": "gossip"}, {"name": "moshpit"}, {"name": "hierarchical", "across_every": 2}, {"name": "ist"},
      {"name": "sparta", "share": 0.1, "overlap": 2, "arrival": "add", "numbers": "int8"},
      {"name": "epidemic"}, {"name": "gasloc"}, {"name": "gasloc", "graph": "two-matchings", "eta": 1},
      {"name": "diloco", "codec": {"random_mask": {"share": 0.5}}, "error_feedback": "classic"},
      {"name": "diloco", "codec": {"top_k": {"chunk": 64}}, "error_feedback": "ef21"},
      {"name": "streaming-diloco", "fragments": 2, "overlap": 2},
      {"name": "eager-diloco"}, {"name": "eager-diloco", "codec": "int4", "error_feedback": "classic"},
      {"name": "diloco", "codec": "int4", "error_feedback": "classic", "reduction": "two-shot",
       "all_reduce": "direct"},
      {"name": "streaming-diloco", "fragments": 2, "overlap": 2, "codec": "int8", "reduction": "ring"},
      {"name": "dilocox", "codec": {"low_rank": {"rank": 2, "factors": "int4"}}},
      {"name": "co2"}, {"name": "co2", "codec": "int4", "error_feedback": "classic"},
      {"name": "sparseloco", "codec": {"dct_top_k": {"tile": 8, "kept": 4}}},
      {"name": "sparseloco", "codec": {"top_k": {"chunk": 256, "kept": 16, "numbers": "two_bit"}}}]])");
  if (overlap > 0)  // without slack: times do not decide
    all[1].push_back({{"name", "decoupled-diloco"}, {"fragments", 2}, {"overlap", overlap}, {"slack", 0}});
  for (Json& method : all[1]) {
    method["inner_steps"] = inner_steps;
    if (method.contains("overlap")) method["overlap"] = overlap;
  }
  std::vector<Json> methods;
  for (const Json& part : all)
    for (const Json& method : part)
      if (without.count(method["name"]) == 0) methods.push_back(method);
  return methods;
}

// Those whose replicas may live in several processes.
inline std::vector<Json> every_method_of_replicas(int inner_steps) {
  return every_method(inner_steps, {"single", "decoupled-diloco"});
}

}  // namespace longhaul
