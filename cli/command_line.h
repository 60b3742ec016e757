// What is made of the declared command line and of the declared options of a scenario: errors in our form,
// completion for shells, and the man page. All from one object, so that none of them can fall behind.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/errors.h"
#include "core/options.h"

namespace longhaul {

// What CLI11 has against the command line, as an error of ours: what was found, what is allowed, the nearest
// word. `arguments` are those behind the program's name.
InputError command_line_error(const CLI::App& app, const CLI::ParseError& error,
                              const std::vector<std::string>& arguments);

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
