// What the mains of the three programs share: the limits of a system are errors instead of signals, and what
// could not be said on standard output is a failure.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "core/base/errors.h"

namespace longhaul {

// Runs `body` and flushes standard output. Returns its exit status; kRunFailed, with a message of `program`,
// where it is kDone and the output could not be written. A reader that has closed a pipe is no failure: it
// has what it wanted.
int program_main(const std::string& program, const std::function<int()>& body);

// A command line declared with CLI11: its commands, and what is wrong with the words given, as an error of
// ours.

// What CLI11 has against the command line: what was found, what is allowed, the nearest word. `app` has its
// name (no path); `arguments` are those behind it.
InputError command_line_error(const CLI::App& app, const CLI::ParseError& error,
                              const std::vector<std::string>& arguments);

// What is wrong with the number of an option, or nothing: CLI::PositiveNumber lets nan pass.
std::string check_above_zero(const std::string& text);

// Commands that people see, in the order of declaration.
std::vector<const CLI::App*> commands_of(const CLI::App& app);
std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands);

}  // namespace longhaul
