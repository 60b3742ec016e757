// The process that has a user's outer step in Python (python/longhaul/outer.py), and conversations with it: a
// JSON line each way. Those behind the first are for processes that it forks. Of python3 on the search path
// it is the first that has numpy.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/base/json.h"

namespace longhaul {

class PythonChild {
 public:
  // Throws InputError where no python3 has numpy. Descriptors without FD_CLOEXEC are the child's too.
  explicit PythonChild(int conversations = 1);
  ~PythonChild();
  PythonChild(const PythonChild&) = delete;
  PythonChild& operator=(const PythonChild&) = delete;

  // Throws InputError, with the file and its line in `found`, where the user's code is wrong; RunError where
  // the process has ended. Several threads may ask at once, each in a conversation of its own.
  Json ask(const Json& request, int conversation = 0);
  // The descriptors that the conversations behind the first have in the process.
  const std::vector<int>& others() const { return others_; }

 private:
  struct Conversation {
    int socket = -1;
    std::string unread;
  };

  std::string file_;
  std::vector<Conversation> conversations_;
  std::vector<int> others_;
  pid_t pid_ = -1;
};

}  // namespace longhaul
