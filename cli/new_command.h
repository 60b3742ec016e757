// longhaul new: writes a commented scenario to start from, from flags or a few questions.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "cli/starter_scenario.h"

namespace longhaul {

// What a flag has not said is asked for on a terminal, and else the default.
struct NewOptions {
  std::string out = "my-scenario.json";
  std::optional<bool> train;
  std::vector<std::string> methods;  // empty: not said
  std::optional<int> replicas, seeds;
  std::string network;  // "": not said
};

// Asks where both standard input and output are a terminal. The file passes longhaul check. Throws InputError
// where it exists already or the choices contradict each other.
int new_command(const NewOptions& options);

// The choices of `options`, with questions for the rest if `in` is not null.
StarterChoices starter_choices(const NewOptions& options, std::istream* in, std::ostream& out);

}  // namespace longhaul
