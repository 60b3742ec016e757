// Programs of python/longhaul, which are compiled in, so that an executable needs no data folder.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace longhaul {

void write_python_scripts(const std::string& folder);

// The status of a command that runs in `folder` ("": here), and what it says, errors too; by way of a log in
// `scratch`.
std::pair<int, std::string> output_of(const std::vector<std::string>& command, const std::string& scratch,
                                      const std::string& folder = "");

}  // namespace longhaul
