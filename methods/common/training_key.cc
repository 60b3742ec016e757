#include "methods/common/training_key.h"

#include "core/hash.h"
#include "core/scenario_options.h"
#include "methods/common/registry.h"

namespace longhaul {
namespace {

void keep_numerics(const std::vector<Node>& options, Json& values) {
  for (const Node& option : options)
    if (option.is_timing_only) values.erase(option.key);
}

const std::vector<Node>& train_options() {
  static const Node section = *scenario_options({}, {}).child("train");
  return section.children;
}

}  // namespace

std::string training_key(const Case& one) {
  Json method = one.method.options;
  method.erase("label");
  keep_numerics(method_named(one.method.name).options, method);
  // As before there was a choice: without sites a training keeps its name.
  if (method.value("pairing", "random") == "random")
    for (const char* key : {"pairing", "across_every"}) method.erase(key);
  else
    method["sites"] = one.site_of;
  Json train = one.resolved.at("train");
  keep_numerics(train_options(), train);
  if (one.train->precision == Precision::kFloat32) train.erase("precision");  // as before there was a choice
  const Json key = {{"seed", one.seed},
                    {"replicas", one.replicas},
                    {"method", method},
                    {"train", train},
                    {"wire", to_string(one.workload.wire)},
                    {"folder", one.train->data.globs.empty() ? "" : one.folder}};
  return one.method.name + "-" + hex64(fnv1a(key.dump()));
}

}  // namespace longhaul
