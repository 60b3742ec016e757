// What a fit leaves: the scenario with what was found, the same in numbers, its page, and words for people.
#pragma once

#include <map>
#include <string>

#include "fitting/fit.h"

namespace longhaul {

struct FitSource {
  std::string name;      // of the scenario
  std::string scenario;  // its file
  std::string observed;  // the file of the observations, or where else they are from
  std::string content = {};  // of the observations
};

// fit.json: format 1, SI units.
Json fit_data(const FitSource& source, const FitResult& result);

// The scenario as written with what was found in place, and in its section `fit` the intervals, the axes and
// where they come from. Files that it names relative to the folder `from` it then names relative to `to`.
Json fitted_scenario(const Json& written, const FitSource& source, const FitResult& result,
                     const std::string& from, const std::string& to);

// One HTML file, which opens offline: residuals as a picture, and the tables.
std::string fit_page(const Json& data);

// The tables for a terminal.
std::string fit_text(const FitResult& result);

}  // namespace longhaul
