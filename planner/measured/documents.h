// The text of a file in any of the encodings that shells write, and the JSON documents in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "planner/measured/measurement.h"

namespace longhaul::measured {

// Valid UTF-8, in which each byte that belongs to no character became U+FFFD. PowerShell's > writes UTF-16
// with a mark, Excel UTF-8 with one; terminals may add colour codes.
std::string decoded(std::string_view raw);

// With \n for each line end. Throws InputError for a file without a word.
std::string text_of_file(const MeasurementFile& file);

// All objects of `text`, one after the other, as --json-stream and appended runs have them, or in an array,
// as jq -s has them. Other lines before the first and between them, as warnings on the same stream, are
// passed over. Throws InputError for a text that was cut off.
std::vector<Json> json_documents(const std::string& file, std::string_view text);

// Whether the text begins an object, as JSON does.
bool is_json(std::string_view text);

}  // namespace longhaul::measured
