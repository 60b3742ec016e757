// Values of a tool's JSON, which may be damaged: each function says with Damaged what is not as it was used.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"

namespace longhaul::measured {

// Whether it is an object that has the key.
bool has(const Json& json, const char* key);
// Null where `json`, an object, lacks the key.
const Json& get(const Json& json, const char* key);
const Json& get(const Json& json, const std::string& key);
// `json` is an object that has it.
const Json& need(const Json& json, const char* key);
// Its elements; none of null.
const std::vector<Json>& elements(const Json& json);

// null, false, 0 and what is empty are not.
bool is_true(const Json& value);
// The first that is_true(); else the last.
const Json& first_true(const Json& first, const Json& second);

double number(const Json& value);           // a number or a boolean
double number_or_zero(const Json& value);   // 0 where it is not is_true()
double number_in(const Json& value);        // a text that is a number too
long long integer_in(const Json& value);    // of a fraction its whole part
std::string text(const Json& value);        // "" where it is not is_true()
std::string plain_text(const Json& value);  // of anything, as people write it

}  // namespace longhaul::measured
