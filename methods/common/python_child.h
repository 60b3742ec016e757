// The process that has a user's outer step in Python (python/longhaul/outer.py), and a conversation with it:
// a JSON line each way. Of python3 on the search path it is the first that has numpy.
#pragma once

#include <sys/types.h>

#include <string>

#include "core/base/json.h"

namespace longhaul {

class PythonChild {
 public:
  // Throws InputError where no python3 has numpy. Descriptors without FD_CLOEXEC are the child's too.
  PythonChild();
  ~PythonChild();
  PythonChild(const PythonChild&) = delete;
  PythonChild& operator=(const PythonChild&) = delete;

  // Throws InputError, with the file and its line in `found`, where the user's code is wrong; RunError where
  // the process has ended.
  Json ask(const Json& request);

 private:
  std::string file_, unread_;
  int socket_ = -1;
  pid_t pid_ = -1;
};

}  // namespace longhaul
