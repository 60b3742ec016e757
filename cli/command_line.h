// What is made of the declared command line and of the declared options of a scenario: completion for shells
// and the man page. All from one object, so that none of them can fall behind.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/base/options.h"

namespace longhaul {

// The shells that completion_script() knows.
const std::vector<std::string>& completion_shells();

// A script for the shell that completes commands, options, their fixed values, files, and behind --set the
// keys of a scenario.
std::string completion_script(const CLI::App& app, const Node& scenario, const std::string& shell);

// longhaul.1, in the language of man pages.
std::string man_page(const CLI::App& app, const Node& scenario, const std::string& version);

// The dotted keys that --set and sweeps address, without those of methods and lists.
std::vector<std::string> dotted_keys(const Node& scenario);

}  // namespace longhaul
