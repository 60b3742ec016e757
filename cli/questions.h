// Questions on a terminal: each with what is allowed and what an empty answer means.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace longhaul {

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
