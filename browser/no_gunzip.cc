// What stands for planner/gunzip.cc in a browser: the page has unpacked what it was given (page/form.js).
#include "core/base/errors.h"
#include "planner/gunzip.h"

namespace longhaul {

bool is_gzip(std::string_view bytes) {
  return bytes.substr(0, 2) == "\x1f\x8b";
}

std::string gunzip(std::string_view) {
  throw InputError("", "is compressed", "a file that was unpacked");
}

}  // namespace longhaul
