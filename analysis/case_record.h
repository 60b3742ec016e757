// One case in numbers: its record in summary.json.
#pragma once

#include <string>

#include "core/base/options.h"
#include "core/scenario/case.h"

namespace longhaul {

// The record of a case from the files in its folder and in its training's. Times in seconds, sizes in bytes.
//
// `status` is "done", "failed" or "interrupted". `train_folder` and `training` (the training's key) are empty
// where nothing is trained. What cannot be read (a case that did not finish) is left out of the record.
// docs/reference/formats/summary.md says what each key is and when it exists.
//
// Where the folder holds a record (keep_totals) it is that.
Json case_record(const Case& config, const std::string& case_folder, const std::string& train_folder,
                 const std::string& status, const std::string& training);

// Of a case of a fitted scenario, in its folder: {"fit_error": fraction}, which the record takes.
inline const std::string kFitErrorFile = "/fit_error.json";

// Writes the record of a finished case into its folder (record.json), and removes the tables that have a row
// for each exchange, step, message or link: of a large sweep only these numbers are looked at.
void keep_totals(const std::string& case_folder, const Json& record);

}  // namespace longhaul
