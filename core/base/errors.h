// The two kinds of failure that a user can meet; a broken invariant is a std::logic_error and not one of
// them.
//
//   InputError  what the user wrote is wrong: exit status 2, one message with the file, the JSON path inside
//               it, what was found, what is allowed and what to do.
//   RunError    the input was right and the run could not be finished (disk full, a child died, a stalled
//               simulation): exit status 1.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace longhaul {

struct InputErrorParts {
  std::string file;     // empty where the input is not a file (a flag)
  std::string path;     // JSON path inside the file ("methods[1].inner_steps"), or a flag ("--jobs")
  std::string found;    // what stands there
  std::string allowed;  // what may stand there
  std::string hint;     // what to do
  std::vector<InputErrorParts> others = {};  // further mistakes of the same file
};

class InputError : public std::runtime_error {
 public:
  explicit InputError(InputErrorParts parts);
  // Of no file, or of one that is named where it is caught (in_file).
  InputError(std::string path, std::string found, std::string allowed, std::string hint = "");

  const InputErrorParts& parts() const { return parts_; }
  // The same error, said of `file`; for code that checks a value without knowing where it came from.
  InputError in_file(const std::string& file) const;

 private:
  InputErrorParts parts_;
};

// All mistakes of one input: the first, with the others behind it, a line each. `errors` is not empty.
InputError together(const std::vector<InputError>& errors);

class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A file of a run directory is not as it was written: it is damaged, or of somebody else. For a command that
// was given the directory it is wrong input, exit status 2; a run that has just written it has failed.
class DamagedFile : public RunError {
 public:
  using RunError::RunError;
};

// Exit statuses of all three executables.
enum ExitStatus { kDone = 0, kRunFailed = 1, kInputWrong = 2, kInterrupted = 130 };

// "did you mean "x"?": the candidate that the field has another word for (core/base/option_synonyms.h), or
// the one that `word` is a slip for; `otherwise` if there is none.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates,
                         const std::string& otherwise = "");

// "a, b, c"
std::string join(const std::vector<std::string>& words, const std::string& separator = ", ");

// The first `most` of them: "a, b and 7 more".
std::string join_some(std::vector<std::string> words, std::size_t most);

// "a, b and c" with "and".
std::string enumeration(std::vector<std::string> words, const std::string& conjunction);

// The one of `all` whose `name`, a member, is `word`. Throws InputError at `path` where there is none.
template <typename All, typename Name>
const auto& find_named(const std::string& word, const All& all, Name name, const std::string& path,
                       const std::string& otherwise = "") {
  for (const auto& one : all)
    if (std::invoke(name, one) == word) return one;
  std::vector<std::string> names;
  for (const auto& one : all) names.push_back(std::invoke(name, one));
  throw InputError(path, "found \"" + word + "\"", join(names), did_you_mean(word, names, otherwise));
}

}  // namespace longhaul
