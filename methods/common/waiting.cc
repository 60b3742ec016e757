#include "methods/common/waiting.h"

#include <fmt/core.h>

#include "core/errors.h"
#include "core/units.h"

namespace longhaul {

namespace {

Node grace(const char* fallback, const char* meaning) {
  return either("grace", {choice("", {"unlimited"}), duration("").at_least(0).at_most(1e9)})
      .by_default(fallback)
      .later()
      .means(meaning);
}

}  // namespace

Node grace_option() {
  return grace("unlimited",
               "how long the first of a group waits for the others: who is later is passed by, goes on with "
               "its own weights, and waits for nothing; who is left alone likewise");
}

std::vector<Node> quorum_options() {
  return {either("quorum", {choice("", {"all"}), integer("").at_least(1)})
              .by_default("all")
              .later()
              .in("replicas")
              .means("the average begins with those who are there when so many were for the time of grace; "
                     "who is later is passed by, goes on with its own weights, and waits for nothing"),
          grace("0s", "with quorum: how long it waits for the others then; a deadline is a quorum of 1")};
}

Completion completion_of(const Json& options) {
  const Json quorum = options.value("quorum", Json(1)), grace = options.value("grace", Json("unlimited"));
  if (quorum == "all" || grace == "unlimited") return {};
  return {quorum.get<int>(), parse_duration(grace)};
}

void check_waiting(const Case& one) {
  const Json& options = one.method.options;
  if (completion_of(options).is_all()) return;
  const bool has_quorum = options.contains("quorum");
  const char* key = has_quorum ? "quorum" : "grace";
  if (one.pipeline.has_stages())
    throw InputError(
        fmt::format("method.{}", key),
        fmt::format("found {} with {} pipeline stages", options[key].dump(), one.pipeline.stages),
        "one stage", "stages of one replica could meet others than the rest of it does");
  if (has_quorum && options["quorum"].get<int>() > one.replicas)
    throw InputError("method.quorum", fmt::format("found {}", options["quorum"].get<int>()),
                     fmt::format("at most {}, the replicas", one.replicas));
}

}  // namespace longhaul
