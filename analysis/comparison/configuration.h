// What a case is, so that cases can be put beside each other: everything about it but its seed, as flat keys.
// Cases with equal configurations are seeds of one thing.
//
// From cases/CASE/case.json, the resolved case; where that is missing (a summary that was copied alone), from
// what the record says. A method's option is "methods.LABEL.key", as a sweep spells it, whether it was swept
// or not. So runs of different scenarios can be compared: what differs between them is found and named.
#pragma once

#include "analysis/runs/run_directory.h"
#include "core/base/json.h"

namespace longhaul {

using Configuration = Json;

// `resolved`: the resolved case; null where it is missing. Also holds `corpus_hash` of the training, because
// losses compare within one text only; not where the text is synthetic, which every seed has its own of.
Configuration configuration_of(const RunDirectory& run, const Json& record, const Json& resolved);

}  // namespace longhaul
