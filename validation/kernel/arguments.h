// Arguments NAME=VALUE of the programs that measure the kernel. A missing or bad one ends the program with
// status 2.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace longhaul::kernel {

class Arguments {
 public:
  Arguments(const char* program, int argc, char** argv) : program_(program) {
    for (int i = 1; i < argc; ++i) {
      const std::string argument = argv[i];
      const std::size_t equals = argument.find('=');
      if (equals == std::string::npos) refuse("'" + argument + "' is not NAME=VALUE");
      values_[argument.substr(0, equals)] = argument.substr(equals + 1);
    }
  }

  std::string text(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) refuse("give " + name + "=VALUE");
    return found->second;
  }

  double number(const std::string& name, std::optional<double> otherwise = {}) const {
    if (otherwise && values_.count(name) == 0) return *otherwise;
    const std::string value = text(name);
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0') refuse(name + "='" + value + "' is not a number");
    return number;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    std::fprintf(stderr, "%s: %s\n", program_, why.c_str());
    std::exit(2);
  }

  const char* program_;
  std::map<std::string, std::string> values_;
};

}  // namespace longhaul::kernel
