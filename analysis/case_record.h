// One case in numbers: its record in summary.json.
#pragma once

#include <string>

#include "core/case.h"
#include "core/options.h"

namespace longhaul {

// The record of a case from the files in its folder and in its training's. Times in seconds, sizes in bytes.
//
// `status` is "done", "failed" or "interrupted". `train_folder` and `training` (the training's key) are empty where
// nothing is trained. What cannot be read (a case that did not finish) is left out of the record.
// The keys are those of docs/formats.md; swept values stand in `swept` and once more by their dotted keys.
Json case_record(const Case& one, const std::string& case_folder, const std::string& train_folder,
                 const std::string& status, const std::string& training);

}  // namespace longhaul
