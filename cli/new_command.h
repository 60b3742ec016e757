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

// Questions on a terminal: each with what is allowed and what an empty answer means.
class Questions {
 public:
  // At the end of `in` every answer is the default.
  Questions(std::istream& in, std::ostream& out) : in_(in), out_(out) {}

  // One of `allowed`; asked again until it is.
  std::string choice(const std::string& question, const std::vector<std::string>& allowed,
                     const std::string& by_default);
  // Some of `allowed`, separated by commas or blanks, at least one.
  std::vector<std::string> choices(const std::string& question, const std::vector<std::string>& allowed,
                                   const std::vector<std::string>& by_default);
  int number(const std::string& question, int least, int most, int by_default);

 private:
  bool ask(const std::string& question, const std::string& by_default, std::string& answer);

  std::istream& in_;
  std::ostream& out_;
};

}  // namespace longhaul
