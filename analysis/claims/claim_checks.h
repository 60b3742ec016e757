// Whether claims can be judged, before a run: what `longhaul check` says of them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace longhaul {

// Throws InputError (paths "claims[i].KEY") for a claim, as declared, without exactly one of metric and ratio
// or exactly one bound.
void check_claim_forms(const Json& claims);

// Throws InputError (paths "claims[i].KEY") for a claim that cannot be judged: an unknown label or
// swept key, not exactly one of metric and ratio, not exactly one bound. `labels` of the methods; `swept` all
// keys of the sweep.
void check_claims(const Json& claims, const std::vector<std::string>& labels,
                  const std::set<std::string>& swept);

// The parts of that check which a published figure shares (validation.h): the label under `key`, where it is
// given, is one of `labels`; every key of the object `table` is swept. `path`: of the claim.
void check_label(const Json& claim, const std::string& path, const char* key,
                 const std::vector<std::string>& labels);

void check_swept(const Json& claim, const std::string& path, const char* table,
                 const std::set<std::string>& swept);

}  // namespace longhaul
