// A short run of every method that the product has, for the tests that hold for all of them: on a model of
// two layers and four or eight replicas. A test of tests/unit/methods holds that none is missing.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace longhaul {

// With an outer step after each `inner_steps` steps; `pairs` of what is drawn by sites not included.
inline std::vector<Json> every_method(int inner_steps, const std::set<std::string>& without = {}) {
  const auto outer = [inner_steps](const char* name, Json more = Json::object()) {
    more["name"] = name;
    more["inner_steps"] = inner_steps;
    return more;
  };
  const int overlap = std::min(2, inner_steps - 1);
  std::vector<Json> methods = {
      {{"name", "ddp"}},
      {{"name", "fsdp"}},
      {{"name", "independent"}},
      {{"name", "single"}},
      {{"name", "one-bit-adam"}, {"freeze_step", 5}},
      {{"name", "demo"}, {"codec", {{"dct_top_k", {{"tile", 8}, {"kept", 4}}}}}, {"mean_of", "all"}},
      {{"name", "dgc"}, {"warm_up", 4}, {"codec", {{"top_k", {{"chunk", 64}, {"kept", 2}}}}}},
      outer("diloco"),
      outer("diloco", {{"nesterov", false}}),
      outer("muloco"),
      outer("delayed-nesterov", {{"momentum_every", 2}}),
      outer("noloco"),
      outer("noloco", {{"pattern", "presend"}}),
      outer("noloco", {{"pattern", "root"}}),
      outer("noloco", {{"group_size", 4}}),
      outer("local-sgd"),
      outer("ravnest", {{"stages", 2}}),
      outer("ravnest", {{"delay", 3}}),
      outer("gossip"),
      outer("moshpit"),
      outer("hierarchical", {{"across_every", 2}}),
      outer("ist"),
      {{"name", "sparta"}, {"share", 0.2}},
      outer("sparta", {{"share", 0.1}, {"overlap", overlap}, {"arrival", "add"}, {"numbers", "int8"}}),
      outer("epidemic"),
      outer("diloco", {{"codec", {{"random_mask", {{"share", 0.5}}}}}, {"error_feedback", "classic"}}),
      outer("diloco", {{"codec", {{"top_k", {{"chunk", 64}}}}}, {"error_feedback", "ef21"}}),
      outer("streaming-diloco", {{"fragments", 2}, {"overlap", overlap}}),
      outer("eager-diloco"),
      outer("eager-diloco", {{"codec", "int4"}, {"error_feedback", "classic"}}),
      outer("diloco", {{"codec", "int4"},
                       {"error_feedback", "classic"},
                       {"reduction", "two-shot"},
                       {"all_reduce", "direct"}}),
      outer("streaming-diloco",
            {{"fragments", 2}, {"overlap", overlap}, {"codec", "int8"}, {"reduction", "ring"}}),
      outer("dilocox", {{"codec", {{"low_rank", {{"rank", 2}, {"factors", "int4"}}}}}}),
      outer("co2"),
      outer("co2", {{"codec", "int4"}, {"error_feedback", "classic"}}),
      outer("sparseloco", {{"codec", {{"dct_top_k", {{"tile", 8}, {"kept", 4}}}}}}),
      outer("sparseloco", {{"codec", {{"top_k", {{"chunk", 256}, {"kept", 16}, {"numbers", "two_bit"}}}}}})};
  if (overlap > 0)  // without slack: times do not decide
    methods.push_back(outer("decoupled-diloco", {{"fragments", 2}, {"overlap", overlap}, {"slack", 0}}));
  const auto is_without = [&](const Json& method) {
    return without.count(method["name"].get<std::string>()) > 0;
  };
  methods.erase(std::remove_if(methods.begin(), methods.end(), is_without), methods.end());
  return methods;
}

// Those whose replicas may live in several processes.
inline std::vector<Json> every_method_of_replicas(int inner_steps) {
  return every_method(inner_steps, {"single", "decoupled-diloco"});
}

}  // namespace longhaul
