// longhaul report RUN...: one self-contained HTML file from one or several run directories.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

int report_command(const std::vector<std::string>& runs, std::string out);

}  // namespace longhaul
