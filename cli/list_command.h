// longhaul list WHAT: what a scenario can name.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

const std::vector<std::string>&
list_topics();  // methods, collectives, networks, models, options, scenarios, schema
int list_command(const std::string& topic);

}  // namespace longhaul
