// When replicas are gone, from a CSV file (docs/formats.md): spot evictions as they were, instead of drawn
// crashes.
//
// A row is one absence of one replica: from a time to another, or for ever. Replicas that the file does not
// name are never gone; nothing repeats. Times are whole nanoseconds, as the simulator's are.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/scenario/fault.h"

namespace longhaul {

using AbsenceTrace = std::map<int, std::vector<FaultWindows::Window>>;  // by replica, ascending

// `text` of the file `name`, for so many replicas. Throws InputError of that file that names line and column.
AbsenceTrace parse_absences(const std::string& text, const std::string& name, int replicas);

// Reads the file of `fault`. Throws InputError, of its path in the scenario if it cannot be read.
AbsenceTrace read_absence_trace(const Fault& fault, int replicas);

}  // namespace longhaul
