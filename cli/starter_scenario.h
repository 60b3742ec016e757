// A scenario to start from, as longhaul new writes it: chosen by flags, by answers to questions, or by
// default.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "core/base/options.h"

namespace longhaul {

// What a flag has not said is asked for on a terminal, and else the default.
struct NewOptions {
  std::string out = "my-scenario.jsonc";
  std::optional<bool> train;
  std::vector<std::string> methods;  // empty: not said
  std::optional<int> replicas, seeds;
  std::string network;            // "": not said
  std::vector<std::string> text;  // files or globs to train on; empty: not said
};

struct StarterChoices {
  std::string name = "my-scenario";
  bool train = true;
  std::vector<std::string> methods = {"ddp", "diloco", "noloco"};
  int replicas = 8;
  std::string network = "star";
  int seeds = 3;
  std::vector<std::string> text;  // empty: the built-in corpus
};

// The methods and topologies it can begin with: all methods, and the topologies that need no file.
std::vector<std::string> starter_methods();
const std::vector<std::string>& starter_networks();

// The choices of `options`, with questions for the rest if `in` is not null.
StarterChoices starter_choices(const NewOptions& options, std::istream* in, std::ostream& out);

// With every value written out that a user will want to change first. It has not been checked.
Json starter_scenario(const StarterChoices& choices);

}  // namespace longhaul
