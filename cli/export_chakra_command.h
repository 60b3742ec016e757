// longhaul export-chakra: the schedule of a case for ASTRA-sim.
#pragma once

#include <string>

namespace longhaul {

// Writes OUT/chakra.0.json, OUT/chakra.1.json, …, one a replica. `case_name` may be empty where the run has
// one case. Throws InputError for a case that is not there or not done.
int export_chakra_command(const std::string& run, const std::string& case_name, const std::string& out);

}  // namespace longhaul
