// Reading and writing the files of a run directory.
#pragma once

#include <fstream>
#include <string>

#include "core/base/errors.h"
#include "core/base/options.h"

namespace longhaul {

// A JSON file; null where it does not exist. Throws DamagedFile, with the place in the file, where it is no
// JSON or not as declared. Declared numbers that are null are left out of it.
Json read_json_or_null(const std::string& file);
Json read_json_or_null(const std::string& file, const Node& declaration);

// A number that is not finite is null in JSON: as if it were not there, in the section and those inside it.
Json without_null_numbers(const Node& section, Json json);

// What `read` returns. What it has against its input is said of `file`, and damages it: throws DamagedFile.
template <typename Read>
auto reading(const std::string& file, const Read& read) -> decltype(read()) {
  try {
    return read();
  } catch (const InputError& error) {
    throw DamagedFile(error.in_file(file).what());
  } catch (const Json::exception& error) {
    throw DamagedFile(in_our_words(error).in_file(file).what());
  }
}

// Why a table that is finished cannot be: "" or "FILE: is cut off, its last line (1234) has no end". For the
// files of a case with `done`, which no process writes any more; readers leave such a line out. A file that
// does not exist is not cut off.
std::string cut_off(const std::string& file);

// Writes to a temporary name and renames, so that a reader never sees half a file. Throws RunError.
void write_file(const std::string& file, const std::string& text);

// The same for a text that is written bit by bit. What is not committed never takes the place of the file.
class ReplacedFile {
 public:
  explicit ReplacedFile(const std::string& file);  // throws RunError

  std::ofstream& stream() { return out_; }
  void commit();  // throws RunError

 private:
  std::string file_;
  bool is_in_place_ = false;
  std::ofstream out_;
};

}  // namespace longhaul
