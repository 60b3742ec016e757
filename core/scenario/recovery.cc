#include "core/scenario/recovery.h"

#include "core/base/units.h"

namespace longhaul {

Node recovery_options() {
  return section(
             "recovery",
             {choice("on_failure", {"retry", "discard", "wait"})
                  .by_default("retry")
                  .means("what becomes of an operation that lacks a member: retry: it begins anew among "
                         "those left, and who has no partner goes on alone; discard: it fails for its group, "
                         "and a step whose gradients it averages is thrown away; wait: all "
                         "wait until the member is back and has done its step again"),
              duration("detect").at_least(0).by_default("10s").means(
                  "how long it takes until the others know that a replica is gone"),
              choice("start", {"peer", "own"})
                  .by_default("peer")
                  .means("what a replica begins with that is back: the state of one who is there, drawn from "
                         "the seed, which it downloads, or its own as it left it"),
              number("state_bytes")
                  .above(0)
                  .at_most(1000)
                  .means(
                      "what a replica downloads, bytes a parameter; default 12, weights and two moments in "
                      "fp32, and 8 more where the method has an outer step")})
      .means("what follows when a replica is gone (faults of kind crash)");
}

RecoverySpec parse_recovery(const Json& resolved) {
  RecoverySpec spec;
  const Json json = resolved.value("recovery", Json::object());
  const std::string policy = json.value("on_failure", "retry");
  spec.on_failure = policy == "wait"      ? RecoverySpec::OnFailure::kWait
                    : policy == "discard" ? RecoverySpec::OnFailure::kDiscard
                                          : RecoverySpec::OnFailure::kRetry;
  if (json.contains("detect")) spec.detect_s = parse_duration(json["detect"]);
  spec.downloads_state = json.value("start", "peer") == "peer";
  if (json.contains("state_bytes")) spec.state_bytes = json["state_bytes"].get<double>();
  return spec;
}

}  // namespace longhaul
