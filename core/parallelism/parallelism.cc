#include "core/parallelism/parallelism.h"

#include <fmt/core.h>

#include "core/base/errors.h"
#include "core/base/limits.h"
#include "core/parallelism/layer_operations.h"

namespace longhaul {
namespace {

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const ParallelKind& kind : parallel_kinds()) names.push_back(kind.name);
  return names;
}

std::vector<Node> parallelism_keys() {
  const std::vector<Node> common = {
      integer("group_size")
          .at_least(2)
          .at_most(kMostReplicas)
          .required()
          .means("replicas of a group; must divide replicas"),
      choice("groups", words_of<ParallelGroups>())
          .by_default("consecutive")
          .means("which replicas are a group of n. consecutive: 0 to n − 1, n to 2n − 1, and so on; "
                 "strided: those that are replicas / n apart"),
      integer("layers").at_least(1).at_most(4096).means("of the model; default those of workload.model"),
      integer("microbatches")
          .at_least(1)
          .at_most(4096)
          .by_default(1)
          .means("equal parts of a replica's batch, one behind another"),
      number("backward")
          .above(0)
          .by_default(2)
          .means("a backward pass takes so many times as long as a forward pass"),
      number("attention")
          .at_least(0.001)
          .at_most(1)
          .by_default(1. / 3)
          .means("share of a layer's compute in front of its feed-forward network or its experts")};
  std::vector<Node> all;
  for (const ParallelKind& kind : parallel_kinds()) all.push_back(kind.option());
  all.insert(all.end(), common.begin(), common.end());
  return all;
}

}  // namespace

Node parallelism_options() {
  return section("parallelism", parallelism_keys())
      .means(
          "what replicas say to each other inside a step, while they compute; it is replayed, not trained. "
          "The method's operations follow at the end of the step");
}

Node method_parallelism_options() {
  std::vector<Node> same = parallelism_keys();
  for (Node& key : same) {
    key.fallback = Json();
    key.is_required = false;
    for (Node& own : key.children) own.fallback = Json();
  }
  return section("parallelism", std::move(same))
      .means(
          "keys of the scenario's parallelism that differ for this method; another kind takes the place of "
          "its own");
}

Json with_effective_parallelism(Json resolved) {
  Json& method = resolved.at("method");
  const Json own = member(method, "parallelism");
  method.erase("parallelism");
  if (own.is_null()) return resolved;
  Json written = resolved.value("parallelism", Json::object());
  for (const std::string& kind : kind_names())
    if (own.contains(kind))
      for (const std::string& other : kind_names())
        if (other != kind) written.erase(other);
  written.merge_patch(own);
  resolved["parallelism"] = resolve(parallelism_options(), written, "method.parallelism");
  return resolved;
}

ParallelismSpec parse_parallelism(const Json& resolved, int replicas) {
  ParallelismSpec spec;
  const Json json = member(resolved, "parallelism");
  if (json.is_null()) return spec;
  std::vector<std::string> found;
  for (const std::string& kind : kind_names())
    if (json.contains(kind)) found.push_back(kind);
  if (found.size() != 1)
    throw InputError("parallelism", found.empty() ? "found no kind of it" : "found " + join(found, " and "),
                     "one of " + join(kind_names()));
  spec.kind = found.front();
  spec.options = json[spec.kind];
  spec.group_size = json.at("group_size");
  if (replicas % spec.group_size != 0)
    throw InputError("parallelism.group_size",
                     fmt::format("found {} with {} replicas", spec.group_size, replicas),
                     fmt::format("a divisor of {}", replicas), "groups have as many replicas each");
  spec.groups = from_word<ParallelGroups>(json.at("groups"), "parallelism.groups");
  spec.layers = json.value("layers", 0);
  spec.microbatches = json.at("microbatches");
  spec.backward = json.at("backward");
  spec.attention = json.at("attention");
  return spec;
}

}  // namespace longhaul
