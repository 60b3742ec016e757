// Where things are in a run directory (docs/formats.md).
#pragma once

#include <string>

#include "core/case.h"

namespace longhaul {

struct RunLayout {
  std::string folder;

  std::string file(const std::string& name) const { return folder + "/" + name; }
  std::string case_folder(const Case& one) const { return folder + "/cases/" + one.name; }
  std::string training_folder(const std::string& key) const { return folder + "/train/" + key; }
  // Empty where the case trains nothing.
  std::string training_folder(const Case& one) const;
};

bool is_done(const std::string& folder);  // FOLDER/done exists

// Writes to a temporary name and renames, so that a reader never sees half a file. Throws RunError.
void write_file(const std::string& file, const std::string& text);

// The path of `longhaul-train` or `longhaul-sim` beside this executable. Throws RunError if it was not built.
std::string sibling_executable(const std::string& name);

}  // namespace longhaul
