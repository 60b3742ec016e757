// Where a command writes what its options name: made before the work, with the folders above, so that a place
// that cannot be is said first. Throw InputError of `option`.
#pragma once

#include <string>

namespace longhaul {

// Makes the folder; returns it.
std::string made_folder(const std::string& option, const std::string& folder);

// Makes the folder of the file, and looks whether a file can be written there.
void check_output_file(const std::string& option, const std::string& file);

// Of a command whose runs are not continued: that the folder holds none.
void check_holds_no_run(const std::string& option, const std::string& folder);

}  // namespace longhaul
