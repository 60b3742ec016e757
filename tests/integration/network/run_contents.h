// What two runs of one scenario must have in common, whatever happened to them on the way.
#pragma once

#include <map>
#include <string>

#include "core/base/json.h"

namespace longhaul {

// report.html in two pieces: what it is made of, and the data that it shows.
struct Page {
  std::string around;
  Json data;
};
Page page_of(const std::string& html);

// Every file of a run directory by its path. Left out is what docs/formats.md names as wall times, log.txt
// and .lock: those keys of manifest.json, which report.html has once more.
std::map<std::string, std::string> contents_of(const std::string& run);

// The names of those that differ, or that one of the runs lacks.
std::string differences_of(const std::string& run, const std::string& other);

}  // namespace longhaul
