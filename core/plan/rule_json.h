// A rule of a plan of operations as JSON: as the header of a trace has it.
#pragma once

#include "core/base/json.h"
#include "core/plan/operations.h"

namespace longhaul {

// What a rule does not say is as in OperationRule.
Json to_json(const OperationRule& rule);

// Throws InputError for numbers that cannot be carried out in `context`, and Json::exception for keys that
// are missing or of another type.
OperationRule rule_from(const Json& json, const PlanContext& context);

}  // namespace longhaul
