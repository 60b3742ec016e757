// longhaul list WHAT: what a scenario can name.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

const std::vector<std::string>&
list_topics();  // methods, collectives, networks, models, options, scenarios, schema
int list_command(const std::string& topic);

// longhaul list scenarios: the scenario files of a folder, each with a sentence.
struct ScenarioInfo {
  std::string file;   // path
  std::string about;  // the first sentence of its description; "" without one
};

// Those in `folder` and its subfolders, by path: JSON files that are an object with `methods`. What cannot be
// read as JSON is listed with that in its sentence.
std::vector<ScenarioInfo> scenarios_in(const std::string& folder);

// `scenarios` here, or else that of the source tree this executable was built in; "" if there is neither.
std::string scenario_folder();

// "One. Two." is "One."; a full stop inside "Fig. 5A" or "arXiv 2506.10911" ends nothing.
std::string first_sentence(const std::string& text);

}  // namespace longhaul
