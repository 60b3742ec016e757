// What is written for people and editors from the declaration of the options.
#pragma once

#include <string>

#include "core/base/options.h"

namespace longhaul {

// The JSON Schema (draft 2020-12) of the node.
Json json_schema(const Node& node);

// The same schema, where a part that occurs several times stands once, below "$defs".
Json with_definitions(const Json& schema);

// A few lines an option: path, meaning, what is allowed, default. `path`: where the node is.
std::string help_text(const Node& node, const std::string& path = "");

// The option at a dotted path as help_text() writes it or people do ("network.tcp", "methods.noloco.alpha").
// Throws InputError that names what is there instead.
const Node& option_at(const Node& root, const std::string& path);

}  // namespace longhaul
