// What the files of a run directory may say, as far as they are read: a run directory may be damaged, or of
// somebody else.
#pragma once

#include "core/base/options.h"

namespace longhaul {

const Node& manifest_declaration();  // manifest.json
const Node& written_declaration();   // scenario.json: as the user wrote it, without what a sweep gives
const Node& summary_declaration();   // summary.json, but for its cases
const Node& record_declaration();    // one of its cases
const Node& training_declaration();  // training.json
const Node& replay_declaration();    // replay.json

}  // namespace longhaul
