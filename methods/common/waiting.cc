#include "methods/common/waiting.h"

#include <fmt/core.h>

#include "core/errors.h"
#include "core/units.h"

namespace longhaul {

Node grace_option() {
  return duration("grace").at_least(0).at_most(1e9).means(
      "how long the first of a group waits for the others: who is later is passed by, goes on with its own "
      "weights, and waits for nothing; who is left alone likewise. Default for ever");
}

std::vector<Node> quorum_options() {
  return {
      integer("quorum")
          .at_least(1)
          .in("replicas")
          .means(
              "the average begins with those who are there when so many were for the time of grace; who is "
              "later is passed by, goes on with its own weights, and waits for nothing. Default all"),
      duration("grace").at_least(0).at_most(1e9).means(
          "with quorum: how long it waits for the others then; a deadline is a quorum of 1. Default none")};
}

Completion completion_of(const Json& options) {
  if (!options.contains("quorum") && !options.contains("grace")) return {};
  return {options.value("quorum", 1), options.contains("grace") ? parse_duration(options["grace"]) : 0};
}

void check_waiting(const Case& one) {
  const Json& options = one.method.options;
  if (completion_of(options).is_all()) return;
  const char* key = options.contains("quorum") ? "quorum" : "grace";
  if (one.pipeline.has_stages())
    throw InputError(
        fmt::format("method.{}", key),
        fmt::format("found {} with {} pipeline stages", options[key].dump(), one.pipeline.stages),
        "one stage", "stages of one replica could meet others than the rest of it does");
  if (options.value("quorum", 1) > one.replicas)
    throw InputError("method.quorum", fmt::format("found {}", options["quorum"].get<int>()),
                     fmt::format("at most {}, the replicas", one.replicas));
}

}  // namespace longhaul
