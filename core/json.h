// JSON with the keys in the order of writing, and reading an object that may lack keys: resolved sections
// leave out what has no default, and the files of an old run what did not exist then.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace longhaul {

using Json = nlohmann::ordered_json;

// The path of a value for messages: "a.b" for children of an object, "a[3]" for elements.
std::string child_path(const std::string& path, const std::string& key);
std::string element_path(const std::string& path, std::size_t index);

// null where `json` is no object or lacks the key.
Json member(const Json& json, const std::string& key);

// Texts without their quotes, everything else as JSON.
std::string plain(const Json& value);

// plain() of the member; "?" where there is none.
std::string text_of(const Json& json, const std::string& key);

// `json` is an object. Throw InputError (units.h) for a text that is no such quantity.
std::optional<double> optional_rate(const Json& json, const char* key);      // bit/s
std::optional<double> optional_duration(const Json& json, const char* key);  // s

}  // namespace longhaul
