// A command line declared with CLI11: its commands, and what is wrong with the words given, as an error of
// ours. For the mains of all programs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/base/errors.h"

namespace longhaul {

// What CLI11 has against the command line: what was found, what is allowed, the nearest word. `app` has its
// name (no path); `arguments` are those behind it.
InputError command_line_error(const CLI::App& app, const CLI::ParseError& error,
                              const std::vector<std::string>& arguments);

// Commands that people see, in the order of declaration.
std::vector<const CLI::App*> commands_of(const CLI::App& app);
std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands);

}  // namespace longhaul
