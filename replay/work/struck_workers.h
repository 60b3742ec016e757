// When faults of a scenario (core/scenario/fault.h) strike which workers. Those of links are the network's
// (net/variation/struck_links.h).
#pragma once

#include <map>
#include <string>

#include "core/scenario/case.h"

namespace longhaul {

// "replica 3": what a fault strikes, in tables, and what its times are drawn by.
std::string worker_subject(int worker);

// By worker, ascending; nothing for a fault of links. Throws InputError of its file.
std::map<int, FaultWindows> windows_by_worker(const Fault& fault, const Case& config);

}  // namespace longhaul
